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
