import HeraldEvents
public import HeraldTime

/// Records on their way to the broker: what becomes of them, and of those that it does not take.
extension Engine {
    /// How long to wait before a refused record is offered again.
    static let productionPause: Milliseconds = .seconds(1)
    /// The longest wait before a refused record is offered again, in a transaction.
    static let longestProductionPause: Milliseconds = .minutes(1)
    /// How long to wait for room in the producer's queue.
    static let queueFullPause: Milliseconds = .milliseconds(10)
    /// Records that were refused in one batch are offered again so far apart, each in a batch of its own.
    static let refusalSpread: Milliseconds = .milliseconds(30)

    /// The record that an action `produce` names; `nil` when its event was given up meanwhile.
    public func production(_ id: ProductionID) -> Production? { productions[id] }

    /// Has the event's records produced.
    mutating func emit(_ slot: Int32) {
        var next = productions.first(of: slot)
        while let index = next {
            emit(production: index)
            next = productions.next(behind: index)
        }
    }

    private mutating func emit(production index: Int32) {
        committer.recordEmitted()
        actions.append(.produce(productions.id(of: index)))
    }

    /// The broker has acknowledged a record; not told of those in a transaction, whose commit stands for all.
    public mutating func delivered(_ id: ProductionID, now: Moment) {
        guard let production = productions[id] else {
            counters.stale += 1
            return
        }
        let slot = production.slot.index
        if productions.remove(id.index, of: slot) {
            noteDelivered(slot)
            if events[slot].offset != Slot.noOffset {
                complete(partition: events[slot].partition, offset: events[slot].offset)
            }
            free(slot)
        }
        advanceStop(now: now)
        run(now: now)
    }

    /// A record was not produced.
    ///
    /// It is offered again, smaller if it was too large; a settlement is never given up. A record that is known not to
    /// fit before the broker has it costs a transaction nothing. A transaction of which the broker refused a record is
    /// aborted, and the event is isolated: it is tried again in a transaction of its own, whose failure affects no
    /// other event.
    public mutating func failed(_ id: ProductionID, _ failure: ProductionFailure, now: Moment) {
        guard let production = productions[id] else {
            counters.stale += 1
            return
        }
        switch committer.state {
        case .plain: failedPlain(id, production, failure, now: now)
        case .atomic(.open), .atomic(.ending(_, .committing, _)): failedAtomic(id, production, failure, now: now)
        case .atomic(.ending(_, .aborting, _)):
            // An abort fails everything that is still on its way, which says nothing about the records but their size.
            if failure == .tooLarge { failedAtomic(id, production, failure, now: now) }
        case .atomic: break
        }
    }

    private mutating func failedPlain(
        _ id: ProductionID, _ production: Production, _ failure: ProductionFailure, now: Moment
    ) {
        switch failure {
        case .queueFull: schedule(.production(id), after: Self.queueFullPause, now: now)
        case .doesNotFit, .tooLarge:
            guard !makeSmaller(id.index, production, emits: true, now: now) else { return }
            giveUpShrinking(id)
            let spread = Self.refusalSpread * Int64(id.index % 128)
            schedule(.production(id), after: Self.productionPause + spread, now: now)
        case .other: schedule(.production(id), after: Self.productionPause, now: now)
        }
    }

    private mutating func failedAtomic(
        _ id: ProductionID, _ production: Production, _ failure: ProductionFailure, now: Moment
    ) {
        switch failure {
        case .queueFull:
            committer.withhold()
            schedule(.production(id), after: Self.queueFullPause, now: now)
            return
        case .doesNotFit:
            if makeSmaller(id.index, production, emits: true, now: now) { return }
            isolate(id, production, isHopeless: true, now: now)
        case .tooLarge:
            // In company it says nothing of one record: brokers refuse a whole batch.
            let isToBlame = committer.state.attempt?.isAlone == true
            let isHopeless = isToBlame && !makeSmaller(id.index, production, emits: false, now: now)
            isolate(id, production, isHopeless: isHopeless, now: now)
        case .other: break
        }
        transactionFailed(now: now)
    }

    /// Nothing more can be left out of a record.
    private mutating func giveUpShrinking(_ id: ProductionID) {
        actions.append(.notice(.recordRefused))
        guard var whole = productions[id], case .copy(var copy) = whole.content else { return }
        // By the next try its topic may take all of it.
        copy.omissions = []
        whole.content = .copy(copy)
        productions.replace(id.index, with: whole)
    }

    /// Leaves the next part of a record out; false when nothing is left that could be.
    ///
    /// In a transaction that fails all of its records come again; else this one has to be emitted.
    private mutating func makeSmaller(
        _ index: Int32, _ production: Production, emits: Bool, now: Moment
    ) -> Bool {
        guard case .copy(var copy) = production.content else { return false }
        var smaller = production
        if copy.omitMore() {
            smaller.content = .copy(copy)
            productions.replace(index, with: smaller)
            if emits { emit(production: index) }
            return true
        }
        guard case .retry = copy.destination else { return false }
        // The delay topic takes less than the topic that it came from: then it can only be kept as a dead letter.
        keepAsDeadLetter(index, production, copy.services, emits: emits, now: now)
        return true
    }

    private mutating func keepAsDeadLetter(
        _ index: Int32, _ production: Production, _ services: PushServiceSet, emits: Bool, now: Moment
    ) {
        let copy = EventCopy(destination: .deadLetter(.oversized), services: services)
        var letter = production
        letter.content = .copy(copy)
        letter.decidedAt = now.wall
        counters.count(copy)
        productions.replace(index, with: letter)
        if emits { emit(production: index) }
        for service in services {
            let place = events.place(letter.slot.index, service)
            events.replaceVerdict(place, .oversized, now: now.wall)
            noteFate(place, .ended(.deadLettered))
            let result = addResult(letter.slot.index, service, events.services[place], .deadLettered(.oversized))
            if emits { emit(production: result) }
        }
    }

    /// A record of this event was refused: it waits until it is tried in a transaction of its own, which is at once, or after a
    /// growing pause when nothing more can be left out.
    private mutating func isolate(_ id: ProductionID, _ production: Production, isHopeless: Bool, now: Moment) {
        if isHopeless { giveUpShrinking(id) }
        committer.noteCulprit()
        guard let refusals = events.isolate(production.slot.index, isHopeless: isHopeless) else { return }
        partitions.undecide(events[production.slot.index].offset, of: events[production.slot.index].partition)
        let pause =
            isHopeless
            ? min(Self.productionPause.doubled(times: min(refusals, 10)), Self.longestProductionPause) : .zero
        schedule(.refusedEvent(production.slot), after: pause, now: now)
    }

    /// The event may be offered again that had a record refused: alone, when its turn comes.
    mutating func refusedEventIsDue(_ id: SlotID, now: Moment) {
        guard events.isCurrent(id), events[id.index].phase == .refused else { return }
        committer.add(suspect: id)
        advanceCommits(now: now)
    }

    /// A record that had to wait is offered again.
    mutating func productionIsDue(_ id: ProductionID) {
        guard productions[id] != nil, committer.offersAgain() else { return }
        emit(production: id.index)
    }
}
