internal import HeraldTime

/// How fast questions may follow each other, and how long a hub is left alone that is busy or away: pure.
///
/// Questions come evenly; one that comes late may be followed at once, for a tenth of a second's worth at most. After
/// an answer that says nothing about a message all questions wait: as long as the hub says, else 1 s, and twice as long
/// each time, up to a minute. Then one question alone goes first.
struct QuestionLimiter {
    private static let burstNanoseconds: Int64 = 100_000_000
    private static let firstPause: Milliseconds = .seconds(1)
    private static let longestPause: Milliseconds = .minutes(1)

    private let inFlightLimit: Int
    private var rate: RateLimiter
    private var pausedUntil: MonotonicTime
    /// The pause that came last; 0 while all is well.
    private var pause: Milliseconds = .zero

    init(perSecond: Double, inFlightLimit: Int, now: MonotonicTime) {
        let perSecond = max(0.001, perSecond)
        rate = RateLimiter(
            perSecond: perSecond,
            tolerance: 1e9 / perSecond < Double(Self.burstNanoseconds) ? Self.burstNanoseconds : 0)
        self.inFlightLimit = inFlightLimit
        pausedUntil = now
    }

    private var limit: Int { pause == .zero ? inFlightLimit : 1 }

    /// When the next question may be put; `nil` while an answer has to come first.
    func earliest(inFlight: Int) -> MonotonicTime? {
        guard inFlight < limit else { return nil }
        return max(pausedUntil, rate.opens)
    }

    func mayAsk(inFlight: Int, now: MonotonicTime) -> Bool {
        earliest(inFlight: inFlight).map { $0 <= now } ?? false
    }

    mutating func asked(now: MonotonicTime) { rate.take(now: now) }

    /// The hub has answered.
    mutating func succeeded() { pause = .zero }

    /// It has said nothing of a message.
    mutating func failed(retryAfter: Milliseconds?, now: MonotonicTime) {
        // Several that were under way together are one refusal.
        if now >= pausedUntil { pause = min(Self.longestPause, max(Self.firstPause, 2 * pause)) }
        pausedUntil = max(pausedUntil, now.advanced(by: retryAfter ?? pause))
    }
}
