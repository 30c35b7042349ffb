import HeraldCore
package import HeraldTime

/// What a lane does at a moment and not because something has arrived: ``Lane/due(_:)`` says when.
///
/// ``Lane/turn(_:after:)`` and ``Lane/deadline`` go by this one list, so a moment cannot be in one and not in the other.
enum LaneTimer: CaseIterable {
    /// The engine's own timers.
    case engine
    /// The clients are polled.
    case poll
    /// What is fetched ahead is looked at.
    case look
    /// A report is left.
    case report
    /// A call's time is over; the clients end it while they wait.
    case call
}

/// How often a lane does what no event wakes it for (milliseconds).
package struct LaneIntervals: Sendable {
    /// The clients are polled: a sign of life for the group.
    package var poll: Milliseconds
    /// How much is fetched ahead is looked at.
    package var look: Milliseconds
    /// A report is left.
    package var report: Milliseconds

    /// What a worker's lanes do.
    package static let usual = LaneIntervals(
        poll: .milliseconds(500), look: .milliseconds(50), report: .milliseconds(250))
    /// The caller wakes it for everything: no process lives for a century.
    package static let never = LaneIntervals(poll: .days(36_500), look: .days(36_500), report: .days(36_500))

    /// How much is fetched ahead is looked at as soon as so many bytes have come.
    static let lookBytes = 4 << 20
    /// A report that could not be left is tried again after this time.
    static let reportRetry: Milliseconds = .milliseconds(5)
}

extension Lane {
    /// When the next turn has to begin at the latest.
    package var deadline: MonotonicTime {
        // There is always a next poll.
        var deadline = nextPoll
        for timer in LaneTimer.allCases {
            if let due = due(timer) { deadline = min(deadline, due) }
        }
        return deadline
    }

    func isDue(_ timer: LaneTimer, at now: MonotonicTime) -> Bool { due(timer).map { $0 <= now } ?? false }

    /// When something is to be done; `nil` while only an arrival can change anything.
    private func due(_ timer: LaneTimer) -> MonotonicTime? {
        switch timer {
        case .engine: engine.nextWake
        case .poll: nextPoll
        // With nothing fetched there is nothing to see.
        case .look: hasQueues && (engine.watchesFetched || io.fetchedBytes != lookedBytes) ? nextLook : nil
        case .report: nextReport
        case .call: io.nextDeadline
        }
    }
}
