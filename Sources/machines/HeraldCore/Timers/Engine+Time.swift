public import HeraldTime

/// The things that the engine does at a moment and not because of an input: ``Engine/due(_:)`` has the times,
/// ``Engine/fire(_:now:)`` the work.
///
/// ``Engine/tick(now:)`` and ``Engine/nextWake`` go through this one list, so a moment cannot be in one and not in the other.
enum EngineTimer: CaseIterable {
    /// The head of the ``DueQueue``.
    case reminder
    /// Records that stay in memory are looked for.
    case copy
    /// Events that block others are looked for.
    case sweep
    /// A call may begin: because a limit allows it, because others hang, or as the next probe of an outage.
    case call
    /// A stop that is done, or at its deadline.
    case stop
    /// The committer's next step.
    case commit
}

extension Engine {
    /// Does everything due by now.
    public mutating func tick(now: Moment) {
        dispatcher.gate.tick(now: now.monotonic)
        for timer in EngineTimer.allCases {
            if let due = due(timer), due <= now.monotonic { fire(timer, now: now) }
        }
    }

    /// The latest time for the next ``tick(now:)``; `nil` when nothing waits.
    public var nextWake: MonotonicTime? {
        var earliest: MonotonicTime?
        for timer in EngineTimer.allCases {
            if let due = due(timer) { earliest = min(earliest ?? due, due) }
        }
        return earliest
    }

    /// The time at which a timer fires; `nil` while only an input can change anything.
    private func due(_ timer: EngineTimer) -> MonotonicTime? {
        switch timer {
        case .reminder: due.earliest
        case .copy: isConsuming && events.count > 0 ? copying.next : nil
        case .sweep: isConsuming ? sweeping.next : nil
        case .call: nextCall
        case .stop: stopDue
        case .commit: commitDue
        }
    }

    private mutating func fire(_ timer: EngineTimer, now: Moment) {
        switch timer {
        case .reminder: while let entry = due.takeDue(at: now.monotonic) { remind(of: entry.purpose, now: now) }
        case .copy:
            copying.done(now: now.monotonic)
            copyWhatStays(now: now)
        case .sweep:
            sweeping.done(now: now.monotonic)
            sweep(now: now)
        case .call:
            probe(now: now)
            run(now: now)
        case .stop: advanceStop(now: now)
        case .commit: advanceCommits(now: now)
        }
    }

    private mutating func remind(of purpose: Reminder, now: Moment) {
        switch purpose {
        case .quickRetry(let token): quickRetryIsDue(token, now: now)
        case .event(let id): eventIsDue(id, now: now)
        case .resume(let id): resumeIsDue(id)
        case .production(let id): productionIsDue(id, now: now)
        case .refusedEvent(let id): refusedEventIsDue(id, now: now)
        case .suspect(let token): suspectIsDue(token, now: now)
        }
    }

    /// Sets a reminder after this time.
    mutating func schedule(_ purpose: Reminder, after wait: Milliseconds, now: Moment) {
        due.add(.init(due: now.monotonic.advanced(by: wait), purpose: purpose))
    }

    /// The time at which ``run(now:)`` or ``probe(now:)`` has something to begin.
    private var nextCall: MonotonicTime? {
        if !activations.isEmpty { return .distantPast }
        // Only a commit makes a call possible.
        if committer.isInTheWay(recordsOut: productions.count) { return nil }
        if health.isInOutage { return nextProbeTime.map { max($0, refusals.nextCall) } }
        let probe = nextHoldProbe.map { max($0, refusals.nextCall) }
        guard let opens = dispatcher.opens.map({ max($0, refusals.nextCall) }) else { return probe }
        let call = calls.hasRoom ? opens : calls.nextHanging.map { max($0, opens) }
        return call.map { min($0, probe ?? $0) } ?? probe
    }

    private mutating func quickRetryIsDue(_ token: CallToken, now: Moment) {
        guard events.isCurrent(token.slot), events.services[events.service(token)].phase == .resting else { return }
        want(token.slot.index, Int(token.service), now: now)
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

/// The purpose of a reminder.
enum Reminder: Equatable {
    /// A quick retry of one push service may be called.
    case quickRetry(CallToken)
    /// An event that waited in memory may go on.
    case event(SlotID)
    /// A paused retry partition is fetched again.
    case resume(SlotID)
    /// A record that the broker would not take is produced again.
    case production(ProductionID)
    /// An event that had a record refused is offered again.
    case refusedEvent(SlotID)
    /// A call that was refused twice has waited for others' answers.
    case suspect(CallToken)
}
