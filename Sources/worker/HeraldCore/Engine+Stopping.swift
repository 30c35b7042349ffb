import HeraldEvents
import HeraldTime

/// Whether the engine has partitions.
enum Membership: Sendable, Equatable {
    case none
    case assigned
    /// Partitions go, or the worker stops: what is under way is waited for.
    case stopping(Stopping)
    /// A drain was carried out: nothing more is done.
    case left
}

struct Stopping: Sendable, Equatable {
    /// How long the last commit may take at least (milliseconds).
    static let commitGrace: Int64 = 5_000

    /// Whether the worker leaves, and not only the partitions.
    var leaves: Bool
    var deadline: MonotonicTime
    /// No call is under way any more, and what was settled is being committed.
    var isCommitting = false
    /// Events that were given up unsettled: they will be taken again.
    var gaveUp = 0

    /// However late it is: the last commit gets its time, or what was done would be done again.
    mutating func allowCommit(now: MonotonicTime) {
        deadline = max(deadline, now.advanced(byMilliseconds: Self.commitGrace))
    }
}

extension Engine {
    /// Nothing more is taken and called; what is under way is waited for until the deadline.
    mutating func stop(leaving: Bool, timeout: Int64, now: Moment) {
        let deadline = now.monotonic.advanced(byMilliseconds: timeout)
        membership = .stopping(Stopping(leaves: leaving, deadline: deadline))
        health.drop()
        for index in events.slots.indices { stopWaiting(Int32(index), now: now) }
        dispatcher.forgetCalls()
        credentials.forgetCalls()
        activations.removeAll()
        finishStopping(now: now)
    }

    /// What has no call under way ends here: what was never called is given back, the rest is settled with what is known.
    private mutating func stopWaiting(_ slot: Int32, now: Moment) {
        switch events[slot].phase {
        case .free, .settling, .refused:
            break
        case .behindUser, .waiting:
            free(slot)
        case .active:
            if events[slot].callsOut == 0 { settleForStop(slot, now: now) }
        }
    }

    /// Settles an event whose calls have ended while partitions go: services that were not called, or would be called
    /// again from memory, go to the first delay, so that those that are done need not be called again.
    mutating func settleForStop(_ slot: Int32, now: Moment) {
        let hasFacts = events[slot].event.pushServices.contains { service in
            let state = events.services[events.place(slot, service)]
            return state.phase == .decided || state.attempts > events[slot].event.attempts
        }
        guard hasFacts, let shortest = configuration.retry.delays.first else {
            free(slot)
            return
        }
        let due = now.wall.advanced(byMilliseconds: shortest)
        for service in events[slot].open {
            decide(slot, service, .retry(delay: 0, due: due, reason: .blocked), now: now)
        }
    }

    /// Goes on with a stop when no call is under way any more, or the time is over.
    mutating func finishStopping(now: Moment) {
        guard case .stopping(var stopping) = membership, !stopping.isCommitting else { return }
        if calls.inFlight > 0 || events.refusedCount > 0 || (!committer.state.isAtomic && productions.count > 0) {
            guard now.monotonic >= stopping.deadline else { return }
        }
        stopping.gaveUp = dropUnsettled()
        if stopping.gaveUp > 0 { actions.append(.notice(.gaveUp(events: stopping.gaveUp))) }
        resumeEverything()
        stopping.isCommitting = true
        stopping.allowCommit(now: now.monotonic)
        membership = .stopping(stopping)
        commitForStop(now: now)
    }

    /// Goes on with the last commit of a stop, and ends the stop when there is nothing to commit any more.
    mutating func commitForStop(now: Moment) {
        guard case .stopping(let stopping) = membership, stopping.isCommitting else { return }
        let isDone = committer.isIdle && events.refusedCount == 0 && !partitions.hasUncommitted
        if isDone || now.monotonic >= stopping.deadline {
            endStopping(now: now)
        } else {
            advanceCommits(now: now)
        }
    }

    /// Ends a stop; what is not committed by now will be taken again.
    mutating func endStopping(now: Moment) {
        guard case .stopping(var stopping) = membership else { return }
        let dropped = events.count
        if dropped > 0 {
            stopping.gaveUp += dropped
            actions.append(.notice(.gaveUp(events: dropped)))
        }
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        if stopping.leaves {
            membership = .left
            actions.append(.leave(complete: stopping.gaveUp == 0))
        } else {
            membership = .none
            actions.append(.unassign)
        }
    }

    /// Gives up what is not settled, and says how many events that were.
    private mutating func dropUnsettled() -> Int {
        guard committer.state.isAtomic else {
            let dropped = events.count
            dropEverything()
            return dropped
        }
        var dropped = 0
        for index in events.slots.indices
        where events.slots[index].phase != .free && events.slots[index].phase != .settling {
            free(Int32(index))
            dropped += 1
        }
        forgetCalls()
        return dropped
    }

    /// Gives up every event in memory; answers and acknowledgements that come for them later are stale.
    mutating func dropEverything() {
        for index in events.slots.indices where events.slots[index].phase != .free { free(Int32(index)) }
        due.removeAll()
        committer.eventsGone()
        forgetCalls()
    }

    private mutating func forgetCalls() {
        calls.forgetCalls()
        dispatcher.forgetCalls()
        credentials.forgetCalls()
        activations.removeAll()
        events.forgetOrder()
        health.drop()
    }
}
