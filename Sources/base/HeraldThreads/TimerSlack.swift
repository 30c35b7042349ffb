internal import CEpoll

/// The lateness allowed when a thread waits for a moment rather than for an event.
public enum TimerSlack {
    /// Lets the kernel wake this thread, and threads that it makes later, this much late (nanoseconds; Linux: 50 000).
    ///
    /// librdkafka before 2.4 rounds its waits down to milliseconds and busy-waits for the rest: half a millisecond of
    /// processor time per timer and client. Woken a millisecond later, it has nothing left to wait for.
    public static func set(nanoseconds: UInt) { _ = herald_set_timer_slack(nanoseconds) }
}
