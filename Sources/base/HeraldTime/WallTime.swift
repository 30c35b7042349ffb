/// A moment of civil time with millisecond resolution, as records, events and logs carry it.
///
/// The wall clock can step: never use it for a deadline (``MonotonicTime`` is for those).
public struct WallTime: Comparable, Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z without leap seconds (the Unix epoch, as Kafka's timestamps).
    public var milliseconds: Int64

    /// The moment this many milliseconds after the Unix epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whether the left moment is earlier.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment a span later (earlier when negative); stops at the ends of the range instead of overflowing.
    @inlinable
    public func advanced(by span: Milliseconds) -> Self {
        Self(milliseconds: (Milliseconds(count: milliseconds) + span).count)
    }

    /// This moment if a record can have been written then; `nil` for an implausible timestamp: publishers may set any,
    /// such as seconds, 0, the end of time, or none at all (-1).
    ///
    /// Implausible is more than a year ago, or more than an hour ahead, which brokers refuse by default. Nothing is
    /// measured from such a moment.
    @inlinable
    public func credible(now: Self) -> Self? {
        let isCredible =
            milliseconds >= 0 && self >= now.advanced(by: -.days(366)) && self <= now.advanced(by: .hours(1))
        return isCredible ? self : nil
    }

    /// The time from `earlier` to this moment; negative when `earlier` is later; stops at the ends of the range.
    @inlinable
    public func time(since earlier: Self) -> Milliseconds {
        Milliseconds(count: milliseconds) - Milliseconds(count: earlier.milliseconds)
    }
}
