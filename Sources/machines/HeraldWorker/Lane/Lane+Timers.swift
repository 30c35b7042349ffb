import HeraldCore
package import HeraldTime

/// The things that a lane does at a moment and not on an arrival: ``Lane/due(_:)`` has the times.
///
/// ``Lane/turn(_:after:)`` and ``Lane/deadline`` go by this one list, so a moment cannot be in one and not in the other.
enum LaneTimer: CaseIterable {
    /// The engine's own timers.
    case engine
    /// The clients are polled.
    case poll
    /// The fetched bytes are looked at.
    case look
    /// A report is left.
    case report
    /// A call's time is over; the clients end it while they wait.
    case call
}

/// The intervals of a lane's periodic work (milliseconds).
package struct LaneIntervals: Sendable {
    /// The clients are polled: a sign of life for the group.
    package var poll: Milliseconds
    /// The fetched bytes are looked at.
    package var look: Milliseconds
    /// A report is left.
    package var report: Milliseconds

    /// The intervals of a worker's lanes.
    package static let usual = LaneIntervals(
        poll: .milliseconds(500), look: .milliseconds(50), report: .milliseconds(250))
    /// The caller wakes it for everything: no process lives for a century.
    package static let never = LaneIntervals(poll: .days(36_500), look: .days(36_500), report: .days(36_500))

    /// The number of fetched bytes that brings the next look forward.
    static let lookBytes = 4 << 20
    /// The pause before a report that could not be left is tried again.
    static let reportRetry: Milliseconds = .milliseconds(5)
}

extension Lane {
    /// The latest start of the next turn.
    package var deadline: MonotonicTime {
        // There is always a next poll.
        var deadline = nextPoll
        for timer in LaneTimer.allCases {
            if let due = due(timer) { deadline = min(deadline, due) }
        }
        return deadline
    }

    func isDue(_ timer: LaneTimer, at now: MonotonicTime) -> Bool { due(timer).map { $0 <= now } ?? false }

    /// The time at which a timer is due; `nil` while only an arrival can change anything.
    private func due(_ timer: LaneTimer) -> MonotonicTime? {
        switch timer {
        case .engine: engine.nextWake
        case .poll: nextPoll
        // Without fetched bytes there is nothing to see.
        case .look: hasQueues && (engine.watchesFetched || io.fetchedBytes != lookedBytes) ? nextLook : nil
        case .report: nextReport
        case .call: io.nextDeadline
        }
    }
}
