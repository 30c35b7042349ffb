import HeraldTime

/// Whether the engine has partitions.
enum Membership: Sendable, Equatable {
    case none
    case assigned
    /// Partitions are revoked, or the worker stops: the calls under way may end.
    case stopping(Stop)
    /// Calls have ended, and the settled events are being committed; `gaveUp` events were given up unsettled.
    case lastCommit(Stop, gaveUp: Int)
    /// A drain was carried out: there is no further work.
    case left

    struct Stop: Sendable, Equatable {
        /// Whether the worker leaves, and not only the partitions.
        var leaves: Bool
        var deadline: MonotonicTime
    }

    /// The stop that is under way.
    var stop: Stop? {
        switch self {
        case .stopping(let stop), .lastCommit(let stop, _): stop
        case .none, .assigned, .left: nil
        }
    }

    var isLastCommit: Bool { if case .lastCommit = self { true } else { false } }
}

/// The engine's membership from an assignment to its end; no other part writes it.
///
/// | membership | when | then |
/// |---|---|---|
/// | `none` | partitions are assigned | `assigned` |
/// | `assigned` | they are revoked, or the worker drains | `stopping` |
/// | `stopping` | no call is under way, or it is the deadline | `lastCommit` |
/// | `lastCommit` | everything is committed, or it is the deadline | `none`; drained: `left` |
/// | `assigned`, `stopping`, `lastCommit` | the partitions are lost | `none`; drained: `left` |
/// | `none` | the worker drains | `left` |
struct Lifecycle: Sendable {
    /// The least time for the last commit.
    static let commitGrace: Milliseconds = .seconds(5)

    private(set) var membership = Membership.none

    mutating func assigned() { membership = .assigned }

    mutating func stop(leaving: Bool, deadline: MonotonicTime) {
        membership = .stopping(Membership.Stop(leaves: leaving, deadline: deadline))
    }

    /// Has a worker leave whose partitions are being revoked already.
    mutating func leaveAfterStop() {
        switch membership {
        case .stopping(var stop):
            stop.leaves = true
            membership = .stopping(stop)
        case .lastCommit(var stop, let gaveUp):
            stop.leaves = true
            membership = .lastCommit(stop, gaveUp: gaveUp)
        case .none, .assigned, .left: break
        }
    }

    /// Starts the last commit: the calls have ended, or were given up.
    mutating func startLastCommit(gaveUp: Int, now: MonotonicTime) {
        guard case .stopping(let stop) = membership else { return }
        membership = .lastCommit(stop, gaveUp: gaveUp)
        allowCommit(now: now)
    }

    /// Gives the last commit its time, however late: otherwise finished work would be repeated.
    mutating func allowCommit(now: MonotonicTime) {
        guard case .lastCommit(var stop, let gaveUp) = membership else { return }
        stop.deadline = max(stop.deadline, now.advanced(by: Self.commitGrace))
        membership = .lastCommit(stop, gaveUp: gaveUp)
    }

    /// Ends the assignment.
    ///
    /// - Parameter dropped: the number of further events given up.
    /// - Returns: The next action.
    mutating func end(dropped: Int) -> Action {
        let gaveUp = if case .lastCommit(_, let gaveUp) = membership { gaveUp + dropped } else { dropped }
        return end(isComplete: gaveUp == 0)
    }

    /// Ends the assignment at once, with its partitions.
    mutating func lost() -> Action { end(isComplete: false) }

    private mutating func end(isComplete: Bool) -> Action {
        guard membership.stop?.leaves == true else {
            unassigned()
            return .unassign
        }
        membership = .left
        return .leave(complete: isComplete)
    }

    /// Notes that there are no partitions.
    mutating func unassigned() {
        if membership != .left { membership = .none }
    }

    mutating func leave() { membership = .left }
}
