import HeraldTime

/// A limit of so many per second, evenly spread: the generic cell rate algorithm (ITU-T I.371), a leaky bucket that is
/// one number.
///
/// What was not used within ``tolerance`` is lost, so that a pause is not followed by a burst.
struct RateLimiter: Sendable, Equatable {
    /// How far (nanoseconds) one may run ahead of the even spread, because a loop does not wake at every moment.
    static let tolerance: Int64 = 10_000_000

    private(set) var interval: Int64
    /// When the next one is due if they are evenly spread.
    private var next = MonotonicTime(nanoseconds: 0)

    /// A limit of `perSecond` (more than 0).
    init(perSecond: Double) {
        interval = Self.interval(perSecond)
    }

    /// Another limit from the next one on.
    mutating func change(perSecond: Double) { interval = Self.interval(perSecond) }

    /// Another limit, as if it had been there for the latest one already: a much higher one is used at once.
    mutating func replace(perSecond: Double) {
        let former = interval
        interval = Self.interval(perSecond)
        next = MonotonicTime(nanoseconds: next.nanoseconds + interval - former)
    }

    /// When the next one is allowed.
    var opens: MonotonicTime { MonotonicTime(nanoseconds: next.nanoseconds - Self.tolerance) }

    /// Counts one.
    mutating func take(now: MonotonicTime) {
        next = MonotonicTime(nanoseconds: max(next, now).nanoseconds + interval)
    }

    private static func interval(_ perSecond: Double) -> Int64 {
        max(1, Int64(min(1e9 / perSecond, 3.6e12)))
    }
}
