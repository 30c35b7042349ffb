public import HeraldTime

/// The number and times of calls after temporary failures.
///
/// Pure: time and randomness come in as arguments.
///
/// At most `1 + immediate + delays.count` calls are made for each push service, within `maxElapsed`. Immediate retries
/// follow the first call only; then each delay gets one call. When a delay would end after the event's expiry, the
/// remaining calls are spread over the remaining time.
public struct RetryPolicy: Sendable {
    /// The bound of the first quick retry's wait; it doubles with each.
    public static let quickBase: Milliseconds = .milliseconds(200)
    /// The longest wait of a quick retry.
    public static let quickLimit: Milliseconds = .seconds(2)

    /// Quick retries in memory after the first call.
    ///
    /// Default 2.
    public var immediate: Int
    /// The delays of the retry topics, rising.
    ///
    /// Default 5 s, 30 s, 5 min, 30 min, 2 h.
    public var delays: [Milliseconds]
    /// The time after the first call beyond which no call is made.
    ///
    /// Default 24 h.
    public var maxElapsed: Milliseconds

    /// A policy with these bounds; `delays` must be rising.
    public init(
        immediate: Int = 2, delays: [Milliseconds] = [.seconds(5), .seconds(30), .minutes(5), .minutes(30), .hours(2)],
        maxElapsed: Milliseconds = .days(1)
    ) {
        precondition(zip(delays, delays.dropFirst()).allSatisfy { $0 < $1 }, "delays rise")
        self.immediate = immediate
        self.delays = delays
        self.maxElapsed = maxElapsed
    }

    /// The longest wait that a `Retry-After` can impose: an hour, or the longest delay.
    ///
    /// Without a bound a backend that answers with a date years away would end every event as `time-exhausted`.
    public var retryAfterLimit: Milliseconds { max(delays.last ?? .zero, .hours(1)) }

    /// The most calls for each push service.
    public var mostCalls: Int { 1 + immediate + delays.count }

    /// The consequence of a temporary failure.
    public enum Decision: Equatable, Sendable {
        /// Call again from memory after this long.
        case quick(after: Milliseconds)
        /// Call again after this long, by way of the delay topics.
        case delayed(by: Milliseconds)
        /// All calls are used up.
        case attemptsExhausted
        /// The next call would come later than `maxElapsed` after the first.
        case timeExhausted
        /// The next call would come after the event's expiry, even after the shortest delay.
        case expired
    }

    /// The facts that decide.
    public struct Failure: Sendable {
        /// Calls made so far, this one included.
        public var attempts: Int
        /// Whether this worker made the first call in this stay in memory (the record is on a request topic).
        public var isFirstStay: Bool
        /// The wait requested by the answer's `Retry-After`, clamped.
        public var retryAfter: Milliseconds?
        /// The time of the first call.
        public var firstAttemptAt: WallTime
        /// The event's expiry.
        public var expiresAt: WallTime?

        /// The facts of one failed call.
        public init(
            attempts: Int, isFirstStay: Bool, retryAfter: Milliseconds? = nil, firstAttemptAt: WallTime,
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

    /// Decides what follows `failure`.
    ///
    /// - Parameters:
    ///   - quickAllowed: False while the worker drains: quick retries then go to a delay topic.
    ///   - entropy: 64 random bits, for full jitter (a wait between 0 and the bound, evenly).
    public func decide(_ failure: Failure, now: WallTime, quickAllowed: Bool, entropy: UInt64) -> Decision {
        let wait: Milliseconds
        let quick = failure.isFirstStay && failure.attempts <= immediate && failure.retryAfter == nil
        if quick && quickAllowed {
            let bound = min(Self.quickBase.doubled(times: min(failure.attempts - 1, 10)), Self.quickLimit)
            wait = .milliseconds(entropy % UInt64(bound.count + 1))
        } else {
            guard let index = delay(after: failure.attempts) else { return .attemptsExhausted }
            wait = self.wait(delays[index], failure, now: now)
        }
        let due = now.advanced(by: wait)
        guard failure.isInTime(due) else { return .expired }
        if due.time(since: failure.firstAttemptAt) > maxElapsed { return .timeExhausted }
        return quick && quickAllowed ? .quick(after: wait) : .delayed(by: wait)
    }

    /// The index of the delay after this many calls, unless a quick retry follows; `nil` when all calls are made.
    public func delay(after attempts: Int) -> Int? {
        let index = max(0, attempts - 1 - immediate)
        return index < delays.count ? index : nil
    }

    /// The next delay; when that ends after the expiry, the wait that spreads the remaining calls evenly over the
    /// remaining time, but no shorter than the shortest delay.
    private func wait(_ delay: Milliseconds, _ failure: Failure, now: WallTime) -> Milliseconds {
        let asked = failure.retryAfter ?? .zero
        guard let expiresAt = failure.expiresAt, now.advanced(by: delay) >= expiresAt else {
            return max(delay, asked)
        }
        let calls = Int64(mostCalls - failure.attempts)
        return max(delays[0], asked, expiresAt.time(since: now) / (calls + 1))
    }

    /// The delay topic for a wait: the longest delay within it; `nil` when even the shortest is longer, so that the
    /// event waits in memory.
    public func hop(for wait: Milliseconds) -> Int? {
        delays.lastIndex { $0 <= wait }
    }
}
