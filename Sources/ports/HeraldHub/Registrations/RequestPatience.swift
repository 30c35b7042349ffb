package import HeraldTime

/// How often, and after which waits, a request that may be repeated without harm is made again.
///
/// What the other side answers decides: too many requests, busy. A wait that it asks for is kept; when that is longer
/// than ``longestWait``, the answer stands.
package struct RequestPatience: Sendable {
    /// So often a request is repeated.
    package static let repeatLimit = 3
    /// The first wait that nobody asked for; each of the next ones is twice as long.
    package static let firstWait: Milliseconds = .seconds(1)

    /// No wait is longer.
    package let longestWait: Milliseconds

    package init(longestWait: Milliseconds = .minutes(1)) {
        self.longestWait = longestWait
    }

    /// How long until the request is made again; `nil` when its answer stands.
    ///
    /// - Parameters:
    ///   - retryAfter: what the header `Retry-After` asks for.
    ///   - repeats: how often it was repeated before.
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
