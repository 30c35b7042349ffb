import HeraldEvents
import HeraldKernel
public import HeraldTime

extension Engine {
    /// Stops taking and calling; calls under way have until the deadline.
    mutating func stop(leaving: Bool, timeout: Milliseconds, now: Moment) {
        let deadline = now.monotonic.advanced(by: timeout)
        lifecycle.stop(leaving: leaving, deadline: deadline)
        health.outage = nil
        dropHolds()
        for index in events.slots.indices { stopWaiting(Int32(index), now: now) }
        dispatcher.forgetCalls()
        credentials.forgetCalls()
        activations.removeAll()
        advanceStop(now: now)
    }

    /// Ends an event without a call under way: one that was never called is given back, or written anew when its record is
    /// deleted; another is settled with its known results.
    private mutating func stopWaiting(_ slot: Int32, now: Moment) {
        switch events[slot].phase {
        case .free, .settling, .refused:
            break
        case .waiting where isDeleted(slot):
            writeAnew(slot, now: now)
        case .behindUser, .waiting:
            free(slot)
        case .active:
            if events[slot].callsOut == 0 { settleForStop(slot, now: now) }
        }
    }

    /// Writes anew what waits in memory and was deleted: its loss is acknowledged, and no offset of it is to be in the way.
    public mutating func writeDeletedAnew(of partition: Int32, now: Moment) {
        for index in events.slots.indices
        where events.slots[index].partition == partition && events.slots[index].phase == .waiting
            && isDeleted(Int32(index))
        {
            writeAnew(Int32(index), now: now)
        }
    }

    /// Has a waiting event wait in a delay topic until the same moment.
    private mutating func writeAnew(_ slot: Int32, now: Moment) {
        events.endWait(slot)
        if events[slot].holdsSource {
            if case .assigned = membership { releaseSource(slot) } else { events.setHoldsSource(slot, false) }
        }
        let event = events[slot].event
        let due = (events[slot].isRetry ? event.dueAt : event.notBefore) ?? now.wall
        let reason: RetryReason? = events[slot].isRetry ? nil : .blocked
        decideAll(slot, .retry(delay: delay(of: slot), due: due, reason: reason), now: now)
    }

    /// Whether no other owner of its partition could read it.
    private func isDeleted(_ slot: Int32) -> Bool {
        events[slot].offset != Slot.noOffset && !configuration.retry.delays.isEmpty
            && events[slot].offset < partitions[events[slot].partition].logStart
    }

    /// The delay of the topic that it came from; the shortest for a request.
    private func delay(of slot: Int32) -> Int {
        guard case .retry(let length) = partitions.topics[partitions[events[slot].partition].topic].role else {
            return 0
        }
        return configuration.retry.delays.firstIndex(of: length) ?? 0
    }

    /// Settles an event whose calls have ended while partitions go: services that were not called, or would be called
    /// again from memory, go to the first delay, so that those that are done need not be called again.
    mutating func settleForStop(_ slot: Int32, now: Moment) {
        let hasFacts = events[slot].event.pushServices.contains { service in
            let state = events.services[events.place(slot, service)]
            return state.phase == .decided || state.attempts > events[slot].event.attempts
        }
        guard hasFacts || isDeleted(slot), let shortest = configuration.retry.delays.first else {
            free(slot)
            return
        }
        let due = now.wall.advanced(by: shortest)
        for service in events[slot].open {
            decide(slot, service, .retry(delay: 0, due: due, reason: .blocked), now: now)
        }
    }

    /// The time at which ``advanceStop(now:)`` can end something: at once without anything to wait for, else the
    /// deadline.
    var stopDue: MonotonicTime? {
        switch membership {
        case .stopping(let stop): waitsForCalls ? stop.deadline : .distantPast
        case .lastCommit(let stop, _): waitsForCommit ? stop.deadline : .distantPast
        case .none, .assigned, .left: nil
        }
    }

    private var waitsForCalls: Bool {
        calls.inFlight > 0 || events.refusedCount > 0 || (!committer.state.isAtomic && productions.count > 0)
    }

    private var waitsForCommit: Bool {
        !committer.isIdle || events.refusedCount > 0 || partitions.hasUncommitted
    }

    /// Advances a stop as far as possible; uncommitted events will be taken again.
    mutating func advanceStop(now: Moment) {
        guard let due = stopDue else { return }
        switch membership {
        case .stopping where now.monotonic >= due:
            startLastCommit(now: now)
            advanceStop(now: now)
        case .lastCommit:
            if now.monotonic >= due { endStopping(now: now) } else { advanceCommits(now: now) }
        case .none, .assigned, .stopping, .left: break
        }
    }

    /// Starts the last commit, when the calls have ended or are given up.
    private mutating func startLastCommit(now: Moment) {
        let gaveUp = dropUnsettled()
        if gaveUp > 0 { actions.append(.notice(.gaveUp(events: gaveUp))) }
        resumeEverything()
        lifecycle.startLastCommit(gaveUp: gaveUp, now: now.monotonic)
    }

    /// Ends a stop; uncommitted events will be taken again.
    mutating func endStopping(now: Moment) {
        let dropped = events.count
        if dropped > 0 { actions.append(.notice(.gaveUp(events: dropped))) }
        dropEverything()
        append(committer.abandon(now: now.monotonic))
        actions.append(lifecycle.end(dropped: dropped))
    }

    /// Gives up the unsettled events, and returns their number.
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

    /// Gives up every event in memory; later answers and acknowledgements for them are stale.
    mutating func dropEverything() {
        for index in events.slots.indices where events.slots[index].phase != .free { free(Int32(index)) }
        due.removeAll()
        committer.eventsGone()
        refusals.removeAll()
        forgetCalls()
    }

    private mutating func forgetCalls() {
        calls.forgetCalls()
        dispatcher.forgetCalls()
        credentials.forgetCalls()
        activations.removeAll()
        events.forgetOrder()
        health.outage = nil
        dropHolds()
    }
}
