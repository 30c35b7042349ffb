/// An evenly spread limit per second: the generic cell rate algorithm (ITU-T I.371, annex A), a leaky bucket that is
/// one number.
///
/// Unused capacity is made up for within ``tolerance`` and otherwise lost, so that no burst follows a pause.
@frozen
public struct RateLimiter: Sendable, Equatable {
    /// The nanoseconds between two.
    public internal(set) var interval: Int64
    /// The nanoseconds that one may run ahead of the even spread.
    public let tolerance: Int64
    /// The moment at which the next one is due if they are evenly spread.
    @usableFromInline var next = MonotonicTime(nanoseconds: 0)

    /// A limit of `perSecond` (more than 0).
    ///
    /// - Parameter tolerance: Nanoseconds; the default suits a loop that does not wake at every moment.
    public init(perSecond: Double, tolerance: Int64 = 10_000_000) {
        interval = Self.interval(perSecond)
        self.tolerance = tolerance
    }

    /// A limit that allows `burst` (1 or more) at once after a pause.
    public init(perSecond: Double, burst: Double) {
        interval = Self.interval(perSecond)
        tolerance = Int64((burst - 1) * Double(interval))
    }

    /// Changes the limit from the next one on.
    public mutating func change(perSecond: Double) { interval = Self.interval(perSecond) }

    /// Changes the limit as if it had applied to the latest one already: a much higher one takes effect at once.
    public mutating func replace(perSecond: Double) {
        let former = interval
        interval = Self.interval(perSecond)
        next = MonotonicTime(nanoseconds: next.nanoseconds + interval - former)
    }

    /// Makes the limiter behave as if all but one had just been used at `now`.
    public mutating func leaveOne(now: MonotonicTime) {
        next = MonotonicTime(nanoseconds: now.nanoseconds + tolerance)
    }

    /// The moment at which the next one is allowed.
    @inlinable
    public var opens: MonotonicTime { MonotonicTime(nanoseconds: next.nanoseconds - tolerance) }

    /// The moment at which `count` (1 or more, at most a burst) are allowed at once.
    public func opens(for count: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: opens.nanoseconds + Int64(((count - 1) * Double(interval)).rounded(.up)))
    }

    /// The number allowed at once.
    public func available(now: MonotonicTime) -> Int {
        let ahead = now.nanoseconds - max(next, now).nanoseconds + tolerance
        return ahead < 0 ? 0 : Int(ahead / interval) + 1
    }

    /// Whether no earlier use counts any more.
    public func isUnused(now: MonotonicTime) -> Bool { next <= now }

    /// Counts this many.
    @inlinable
    public mutating func take(_ count: Int = 1, now: MonotonicTime) {
        next = MonotonicTime(nanoseconds: max(next, now).nanoseconds + Int64(count) * interval)
    }

    /// Rounded up: never above the limit, and no slower than one in 11 days.
    static func interval(_ perSecond: Double) -> Int64 {
        max(1, Int64(min(1e9 / perSecond, 1e15).rounded(.up)))
    }
}
