/// How often, and after which waits, a request that may be repeated without harm is made again.
///
/// What the other side answers decides: too many requests, busy. A wait that it asks for is kept; when that is longer
/// than ``longestWaitMilliseconds``, the answer stands.
package struct RequestPatience: Sendable {
    /// So often a request is repeated.
    package static let repeatLimit = 3
    /// The first wait that nobody asked for; each of the next ones is twice as long.
    package static let firstWaitMilliseconds: Int64 = 1_000

    /// No wait is longer.
    package let longestWaitMilliseconds: Int64

    package init(longestWaitMilliseconds: Int64 = 60_000) {
        self.longestWaitMilliseconds = longestWaitMilliseconds
    }

    /// Milliseconds until the request is made again; `nil` when its answer stands.
    ///
    /// - Parameters:
    ///   - retryAfterMilliseconds: what the header `Retry-After` asks for.
    ///   - repeats: how often it was repeated before.
    package func wait(after status: Int, retryAfterMilliseconds: Int64?, repeats: Int) -> Int64? {
        let isPassing =
            switch status {
            case 408, 429, 500, 503, 504: true
            // Older versions of the hub's interface throttle with it.
            case 403: retryAfterMilliseconds != nil
            default: false
            }
        guard isPassing, repeats < Self.repeatLimit else { return nil }
        let wait = retryAfterMilliseconds ?? Self.firstWaitMilliseconds << Int64(repeats)
        return wait <= longestWaitMilliseconds ? wait : nil
    }
}
