public import HeraldTime

extension Engine {
    /// Time passed: what is due goes on.
    public mutating func tick(now: Moment) {
        while let entry = due.takeDue(at: now.monotonic) {
            switch entry.purpose {
            case .quickRetry: quickRetryIsDue(entry, now: now)
            case .event: eventIsDue(entry.slot, now: now)
            case .resume: resumeIsDue(entry.slot)
            case .production:
                productionIsDue(ProductionID(index: entry.slot.index, generation: entry.slot.generation))
            case .refusedEvent: refusedEventIsDue(entry.slot, now: now)
            case .suspect: suspectIsDue(CallToken(slot: entry.slot, service: entry.service), now: now)
            }
        }
        probe(now: now)
        dispatcher.tick(now: now.monotonic)
        if case .assigned = membership {
            keepWhatStays(now: now)
            sweep(now: now)
        }
        run(now: now)
        switch membership {
        case .stopping: finishStopping(now: now)
        case .lastCommit: commitForStop(now: now)
        case .none, .assigned, .left: break
        }
        // Also what became of the last transaction of an assignment is still asked for.
        advanceCommits(now: now)
    }

    /// When the engine wants its next ``tick(now:)`` at the latest; `nil` when nothing waits.
    ///
    /// Each of these moments is one that whoever acts then asks for as well.
    public var nextWake: MonotonicTime? {
        var earliest = due.earliest
        let moments: [4 of MonotonicTime?] = [nextCommitStep, nextCall, nextUpkeep, membership.stop?.deadline]
        for index in moments.indices {
            if let moment = moments[index] { earliest = min(earliest ?? moment, moment) }
        }
        return earliest
    }

    /// When a call may begin that could not until now.
    private var nextCall: MonotonicTime? {
        // Only a commit makes a call possible.
        if committer.isInTheWay { return nil }
        if health.isInOutage { return nextProbeTime }
        return calls.hasRoom ? dispatcher.opens : nil
    }

    /// When something is looked at; not while nothing is in memory.
    private var nextUpkeep: MonotonicTime? { isTaking && events.count > 0 ? upkeep.next : nil }

    private mutating func quickRetryIsDue(_ entry: DueQueue.Entry, now: Moment) {
        let slot = entry.slot.index
        guard events.isCurrent(entry.slot), events.services[events.place(slot, Int(entry.service))].phase == .resting
        else { return }
        want(slot, Int(entry.service), now: now)
    }

    private mutating func eventIsDue(_ id: SlotID, now: Moment) {
        guard events.isCurrent(id), events[id.index].phase == .waiting else { return }
        events.endWait(id.index)
        if events[id.index].holdsSource { releaseSource(id.index) }
        if events[id.index].isOrdered { activations.append(id) } else { goOn(id.index, now: now) }
    }

    /// The first event of a retry partition does not hold back the rest of it any more.
    mutating func releaseSource(_ slot: Int32) {
        events.setHoldsSource(slot, false)
        let source = Int(events[slot].source)
        sources.unblock(source)
        sources.resume(source, from: .farOff, partitions, actions: &actions)
    }

    private mutating func resumeIsDue(_ id: SlotID) {
        guard events.isCurrent(id) else { return }
        sources.resume(Int(events[id.index].source), from: .farOff, partitions, actions: &actions)
    }

    /// Before partitions go: one that stays paused would be so when it comes again.
    mutating func resumeEverything() {
        for source in sources.indices {
            sources.resume(source, from: [.farOff, .crowded], partitions, actions: &actions)
        }
        for partition in partitions.indices { resumeFull(partition) }
    }
}
