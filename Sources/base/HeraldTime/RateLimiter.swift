/// A limit of so many per second, evenly spread: the generic cell rate algorithm (ITU-T I.371, annex A), a leaky bucket
/// that is one number.
///
/// What was not used is made up for within ``tolerance`` and else lost, so that a pause is not followed by a burst.
@frozen
public struct RateLimiter: Sendable, Equatable {
    /// Nanoseconds from one to the next.
    public internal(set) var interval: Int64
    /// How far (nanoseconds) one may run ahead of the even spread.
    public let tolerance: Int64
    /// When the next one is due if they are evenly spread.
    @usableFromInline var next = MonotonicTime(nanoseconds: 0)

    /// A limit of `perSecond` (more than 0).
    ///
    /// - Parameter tolerance: nanoseconds; by default what a loop needs that does not wake at every moment.
    public init(perSecond: Double, tolerance: Int64 = 10_000_000) {
        interval = Self.interval(perSecond)
        self.tolerance = tolerance
    }

    /// A limit after whose pauses so many (1 or more) may go at once.
    public init(perSecond: Double, burst: Double) {
        interval = Self.interval(perSecond)
        tolerance = Int64((burst - 1) * Double(interval))
    }

    /// Another limit from the next one on.
    public mutating func change(perSecond: Double) { interval = Self.interval(perSecond) }

    /// Another limit, as if it had been there for the latest one already: a much higher one is used at once.
    public mutating func replace(perSecond: Double) {
        let former = interval
        interval = Self.interval(perSecond)
        next = MonotonicTime(nanoseconds: next.nanoseconds + interval - former)
    }

    /// From `now` on as if all but one had just been used.
    public mutating func leaveOne(now: MonotonicTime) {
        next = MonotonicTime(nanoseconds: now.nanoseconds + tolerance)
    }

    /// When the next one is allowed.
    @inlinable
    public var opens: MonotonicTime { MonotonicTime(nanoseconds: next.nanoseconds - tolerance) }

    /// When so many (1 or more, no more than a burst) are allowed at once.
    public func opens(for count: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: opens.nanoseconds + Int64(((count - 1) * Double(interval)).rounded(.up)))
    }

    /// How many are allowed at once.
    public func available(now: MonotonicTime) -> Int {
        let ahead = now.nanoseconds - max(next, now).nanoseconds + tolerance
        return ahead < 0 ? 0 : Int(ahead / interval) + 1
    }

    /// Whether nothing was used that counts by now.
    public func isUnused(now: MonotonicTime) -> Bool { next <= now }

    /// Counts so many.
    @inlinable
    public mutating func take(_ count: Int = 1, now: MonotonicTime) {
        next = MonotonicTime(nanoseconds: max(next, now).nanoseconds + Int64(count) * interval)
    }

    /// Rounded up: never more than the limit, and no less than one in 11 days.
    static func interval(_ perSecond: Double) -> Int64 {
        max(1, Int64(min(1e9 / perSecond, 1e15).rounded(.up)))
    }
}
