internal import HeraldTime

/// Limits the rate of questions, and pauses them while a hub is busy or absent: pure.
///
/// Questions are evenly spread; delayed ones are made up for, up to a tenth of a second's worth. After an answer that
/// says nothing about a message, all questions pause: as long as the hub asks for, else 1 s, doubled each time, up to a
/// minute. A single question then goes first.
struct QuestionLimiter {
    private static let burstNanoseconds: Int64 = 100_000_000
    private static let firstPause: Milliseconds = .seconds(1)
    private static let longestPause: Milliseconds = .minutes(1)

    private let inFlightLimit: Int
    private var rate: RateLimiter
    private var pausedUntil: MonotonicTime
    /// The latest pause; 0 while all is well.
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

    /// The moment at which the next question may be asked; `nil` while an answer has to come first.
    func earliest(inFlight: Int) -> MonotonicTime? {
        guard inFlight < limit else { return nil }
        return max(pausedUntil, rate.opens)
    }

    func mayAsk(inFlight: Int, now: MonotonicTime) -> Bool {
        earliest(inFlight: inFlight).map { $0 <= now } ?? false
    }

    mutating func asked(now: MonotonicTime) { rate.take(now: now) }

    /// Notes an answer.
    mutating func succeeded() { pause = .zero }

    /// Notes an answer that says nothing about a message.
    mutating func failed(retryAfter: Milliseconds?, now: MonotonicTime) {
        // Several in flight together count as one refusal.
        if now >= pausedUntil { pause = min(Self.longestPause, max(Self.firstPause, 2 * pause)) }
        pausedUntil = max(pausedUntil, now.advanced(by: retryAfter ?? pause))
    }
}
