import HeraldTime

/// The waits between probes, which double.
struct ProbePace: Sendable, Equatable {
    private(set) var delay = Outage.firstProbeDelay
    /// The time of the next one.
    private(set) var next: MonotonicTime

    init(now: MonotonicTime) { next = now.advanced(by: Outage.firstProbeDelay) }

    /// Makes the next probe due now, because something may have improved, and starts the waits from the shortest again.
    mutating func soon(now: MonotonicTime) {
        delay = Outage.firstProbeDelay
        next = now
    }

    /// Notes that a probe failed.
    mutating func failed(now: MonotonicTime) {
        delay = min(delay * 2, Outage.slowestProbeDelay)
        next = now.advanced(by: delay)
    }
}
