import Glibc

/// The machine's clocks.
///
/// Only modules that do I/O read them; HeraldCore receives the time as input.
public enum SystemClock {
    /// The current time on the monotonic clock.
    public static func monotonic() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The present civil time.
    public static func wall() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The present moment on both clocks.
    @inlinable
    public static func moment() -> Moment { Moment(monotonic: monotonic(), wall: wall()) }
}
