/// The time on both clocks, as the inputs of a machine carry it.
public struct Moment: Sendable, Equatable {
    /// For deadlines and waits.
    public var monotonic: MonotonicTime
    /// For what records say.
    public var wall: WallTime

    /// One moment on both clocks.
    @inlinable
    public init(monotonic: MonotonicTime, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}
