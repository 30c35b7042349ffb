public import HeraldTime

/// A call that ended, without texts of its own: those lie in the pool until its completions are removed.
public struct Completion: Sendable {
    /// Where a text lies among the pool's.
    public struct Text: Sendable {
        let start: Int
        let count: Int

        /// Whether there is no text, or an empty one.
        public var isEmpty: Bool { count == 0 }
    }

    /// The caller's number for the call.
    public let token: UInt64
    /// The answer's status, 200…599; 0 when the call failed.
    public let status: Int
    /// Why there is no answer; `nil` when there is one.
    public let failure: FailureKind?
    /// When the request was written, or when the call began if it never was.
    public let sentAt: MonotonicTime
    /// From ``sentAt`` to the end.
    public let durationNanoseconds: Int64
    /// The value of the Retry-After header.
    public let retryAfter: Text
    /// The first 64 KiB of the answer's body (of a 2xx answer only if asked for); for a failure, one line for people.
    public let body: Text
}
