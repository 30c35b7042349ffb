package import HeraldTime

/// The number and waits of repetitions of a request that may be repeated without harm.
///
/// The other side's answer decides: too many requests, busy. A requested wait is respected; when it is longer than
/// ``longestWait``, the answer stands.
package struct RequestPatience: Sendable {
    package static let repeatLimit = 3
    /// The first unrequested wait; each of the next ones is twice as long.
    package static let firstWait: Milliseconds = .seconds(1)

    package let longestWait: Milliseconds

    package init(longestWait: Milliseconds = .minutes(1)) {
        self.longestWait = longestWait
    }

    /// The wait before the request is repeated; `nil` when its answer stands.
    ///
    /// - Parameters:
    ///   - retryAfter: the wait requested by the header `Retry-After`.
    ///   - repeats: the number of earlier repetitions.
    package func wait(after status: Int, retryAfter: Milliseconds?, repeats: Int) -> Milliseconds? {
        let isPassing =
            switch status {
            case 408, 429, 500, 503, 504: true
            // Older versions of the hub's interface throttle with it.
            case 403: retryAfter != nil
            default: false
            }
        guard isPassing, repeats < Self.repeatLimit else { return nil }
        let wait = retryAfter ?? Self.firstWait.doubled(times: repeats)
        return wait <= longestWait ? wait : nil
    }
}
