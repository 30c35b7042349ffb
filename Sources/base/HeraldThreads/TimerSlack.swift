internal import CEpoll

/// How late a thread may be woken when it waits for a moment, and not for something to happen.
public enum TimerSlack {
    /// Lets this thread, and every thread that it makes from now on, be woken so much later (nanoseconds; Linux: 50 000).
    ///
    /// librdkafka before 2.4 rounds its waits down to milliseconds and spends the rest of the last one in a loop: half a
    /// millisecond of processor time for each timer of each client. Woken a millisecond later, it has nothing left to wait for.
    public static func set(nanoseconds: UInt) { _ = herald_set_timer_slack(nanoseconds) }
}
