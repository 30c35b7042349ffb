import HeraldTime

/// Whether the engine has partitions.
enum Membership: Sendable, Equatable {
    case none
    case assigned
    /// Partitions go, or the worker stops: calls that are under way are waited for.
    case stopping(Stop)
    /// Nothing is called any more, and what was settled is being committed; so many events were given up unsettled.
    case lastCommit(Stop, gaveUp: Int)
    /// A drain was carried out: nothing more is done.
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

/// From an assignment to its end; no other part writes it.
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
    /// How long the last commit may take at least.
    static let commitGrace: Milliseconds = .seconds(5)

    private(set) var membership = Membership.none

    mutating func assigned() { membership = .assigned }

    mutating func stop(leaving: Bool, deadline: MonotonicTime) {
        membership = .stopping(Membership.Stop(leaves: leaving, deadline: deadline))
    }

    /// The worker drains while partitions go already.
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

    /// The calls have ended, or were given up.
    mutating func startLastCommit(gaveUp: Int, now: MonotonicTime) {
        guard case .stopping(let stop) = membership else { return }
        membership = .lastCommit(stop, gaveUp: gaveUp)
        allowCommit(now: now)
    }

    /// However late it is: the last commit gets its time, or what was done would be done again.
    mutating func allowCommit(now: MonotonicTime) {
        guard case .lastCommit(var stop, let gaveUp) = membership else { return }
        stop.deadline = max(stop.deadline, now.advanced(by: Self.commitGrace))
        membership = .lastCommit(stop, gaveUp: gaveUp)
    }

    /// The assignment is over.
    ///
    /// - Parameter dropped: how many more events were given up.
    /// - Returns: What follows.
    mutating func end(dropped: Int) -> Action {
        let gaveUp = if case .lastCommit(_, let gaveUp) = membership { gaveUp + dropped } else { dropped }
        return end(isComplete: gaveUp == 0)
    }

    /// The partitions are gone at once.
    mutating func lost() -> Action { end(isComplete: false) }

    private mutating func end(isComplete: Bool) -> Action {
        guard membership.stop?.leaves == true else {
            unassigned()
            return .unassign
        }
        membership = .left
        return .leave(complete: isComplete)
    }

    /// There are no partitions.
    mutating func unassigned() {
        if membership != .left { membership = .none }
    }

    mutating func leave() { membership = .left }
}
