/// A moment on a clock that never steps (CLOCK_MONOTONIC), for deadlines and measured durations.
///
/// Its zero means nothing outside this process; it is never written to a record or a log.
public struct MonotonicTime: BitwiseCopyable, Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start.
    public var nanoseconds: Int64

    /// The moment that lies this many nanoseconds after the clock's arbitrary start.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Before every moment that the clock shows.
    @inlinable
    public static var distantPast: Self { Self(nanoseconds: .min) }

    /// Whether the left moment is earlier.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment a span later (earlier when negative); stops at the ends of the range instead of overflowing.
    @inlinable
    public func advanced(by span: Milliseconds) -> Self {
        let step = span.nanoseconds
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return Self(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// The whole milliseconds from `earlier` to this moment, rounded down; negative when `earlier` is later.
    ///
    /// Stops at the ends of the range instead of overflowing.
    @inlinable
    public func time(since earlier: Self) -> Milliseconds {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        if overflow { return nanoseconds < earlier.nanoseconds ? .min : .max }
        let (quotient, remainder) = difference.quotientAndRemainder(dividingBy: 1_000_000)
        return Milliseconds(count: remainder < 0 ? quotient - 1 : quotient)
    }
}

/// The time on both clocks, as the inputs of a machine carry it.
public struct Moment: Sendable, Equatable {
    /// For deadlines and waits.
    public var monotonic: MonotonicTime
    /// For timestamps in records.
    public var wall: WallTime

    /// One moment on both clocks.
    @inlinable
    public init(monotonic: MonotonicTime, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Another moment on the wall clock, in whole milliseconds that are not before it.
    public func wall(_ other: MonotonicTime) -> WallTime {
        wall.advanced(by: -monotonic.time(since: other))
    }
}
