public import HeraldTime

/// How often and when a call that failed for now is made again.
///
/// Pure: time and chance come in as arguments.
///
/// At most `1 + immediate + delays.count` calls are made for each push service, within `maxElapsedMilliseconds`. Immediate
/// retries follow the first call only; then each delay gets one call. When a delay would end behind the event's expiry, the calls
/// that are left are spread over the time that is left.
public struct RetryPolicy: Sendable {
    /// The first quick retry comes after at most this long; the bound doubles with each.
    public static let quickBaseMilliseconds: Int64 = 200
    /// No quick retry waits longer than this.
    public static let quickLimitMilliseconds: Int64 = 2_000

    /// Quick retries in memory after the first call.
    ///
    /// Default 2.
    public var immediate: Int
    /// The delays of the retry topics in milliseconds, rising.
    ///
    /// Default 5 s, 30 s, 5 min, 30 min, 2 h.
    public var delays: [Int64]
    /// No call is made later than this after the first one (milliseconds).
    ///
    /// Default 24 h.
    public var maxElapsedMilliseconds: Int64

    /// A policy with these bounds; `delays` must be rising.
    public init(
        immediate: Int = 2, delays: [Int64] = [5_000, 30_000, 300_000, 1_800_000, 7_200_000],
        maxElapsedMilliseconds: Int64 = 86_400_000
    ) {
        precondition(zip(delays, delays.dropFirst()).allSatisfy { $0 < $1 }, "delays rise")
        self.immediate = immediate
        self.delays = delays
        self.maxElapsedMilliseconds = maxElapsedMilliseconds
    }

    /// The longest wait that a `Retry-After` is allowed to ask for (milliseconds): an hour, or the longest delay.
    ///
    /// Without a bound a backend that answers with a date years away would end every event as `time-exhausted`.
    public var retryAfterLimit: Int64 { max(delays.last ?? 0, 3_600_000) }

    /// So many calls there are at most for each push service.
    public var mostCalls: Int { 1 + immediate + delays.count }

    /// What happens after a call that failed for now.
    public enum Decision: Equatable, Sendable {
        /// Call again from memory after this many milliseconds.
        case quick(after: Int64)
        /// Call again after this many milliseconds, by way of the delay topics.
        case delayed(by: Int64)
        /// All calls are used up.
        case attemptsExhausted
        /// The next call would come later than `maxElapsedMilliseconds` after the first.
        case timeExhausted
        /// The next call would come after the event's expiry, even after the shortest delay.
        case expired
    }

    /// The facts that decide.
    public struct Failure: Sendable {
        /// Calls made so far, this one included.
        public var attempts: Int
        /// Whether the first call was made by this worker in this stay in memory (the record is on a request topic).
        public var isFirstStay: Bool
        /// What the answer's `Retry-After` asked for, in milliseconds, clamped.
        public var retryAfter: Int64?
        /// When the first call was made.
        public var firstAttemptAt: WallTime
        /// The event's expiry.
        public var expiresAt: WallTime?

        /// The facts of one failed call.
        public init(
            attempts: Int, isFirstStay: Bool, retryAfter: Int64? = nil, firstAttemptAt: WallTime,
            expiresAt: WallTime? = nil
        ) {
            self.attempts = attempts
            self.isFirstStay = isFirstStay
            self.retryAfter = retryAfter
            self.firstAttemptAt = firstAttemptAt
            self.expiresAt = expiresAt
        }

        /// Whether a call at this moment comes before the expiry.
        func isInTime(_ due: WallTime) -> Bool { expiresAt.map { due < $0 } ?? true }
    }

    /// What happens after `failure`.
    ///
    /// - Parameters:
    ///   - quickAllowed: False while the worker drains: what would be retried from memory goes to a delay topic.
    ///   - entropy: 64 random bits, for full jitter (a wait between 0 and the bound, evenly).
    public func decide(_ failure: Failure, now: WallTime, quickAllowed: Bool, entropy: UInt64) -> Decision {
        let wait: Int64
        let quick = failure.isFirstStay && failure.attempts <= immediate && failure.retryAfter == nil
        if quick && quickAllowed {
            let bound = min(
                Self.quickBaseMilliseconds << Int64(min(failure.attempts - 1, 10)), Self.quickLimitMilliseconds)
            wait = Int64(entropy % UInt64(bound + 1))
        } else {
            guard let index = delay(after: failure.attempts) else { return .attemptsExhausted }
            wait = self.wait(delays[index], failure, now: now)
        }
        let due = now.advanced(byMilliseconds: wait)
        guard failure.isInTime(due) else { return .expired }
        if due.milliseconds(since: failure.firstAttemptAt) > maxElapsedMilliseconds { return .timeExhausted }
        return quick && quickAllowed ? .quick(after: wait) : .delayed(by: wait)
    }

    /// The index of the delay after so many calls, unless a quick retry follows; `nil` when all calls are made.
    public func delay(after attempts: Int) -> Int? {
        let index = max(0, attempts - 1 - immediate)
        return index < delays.count ? index : nil
    }

    /// The next delay; when that ends behind the expiry, as long as spreads the calls that are left evenly over the time that
    /// is left, but no shorter than the shortest delay.
    private func wait(_ delay: Int64, _ failure: Failure, now: WallTime) -> Int64 {
        let asked = failure.retryAfter ?? 0
        guard let expiresAt = failure.expiresAt, now.advanced(byMilliseconds: delay) >= expiresAt else {
            return max(delay, asked)
        }
        let calls = Int64(mostCalls - failure.attempts)
        return max(delays[0], asked, expiresAt.milliseconds(since: now) / (calls + 1))
    }

    /// The delay topic for a wait: the longest delay that is not longer; `nil` when even the shortest is, so that the
    /// event waits in memory.
    public func hop(for wait: Int64) -> Int? {
        delays.lastIndex { $0 <= wait }
    }
}
