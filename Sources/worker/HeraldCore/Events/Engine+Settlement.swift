import HeraldEvents
import HeraldTime

extension Engine {
    /// How long to wait before a refused record is offered again (milliseconds).
    static let productionPause: Int64 = 1_000
    /// The longest wait before a refused record is offered again, in a transaction (milliseconds).
    static let longestProductionPause: Int64 = 60_000
    /// How long to wait for room in the producer's queue (milliseconds).
    static let queueFullPause: Int64 = 10
    /// Records that were refused in one batch are offered again so far apart (milliseconds), each in a batch of its own.
    static let refusalSpread: Int64 = 30

    /// The record that an action `produce` names; `nil` when its event was given up meanwhile.
    public func production(_ id: ProductionID) -> Production? {
        guard Int(id.index) < productions.count, productions[Int(id.index)].generation == id.generation else {
            return nil
        }
        return productions[Int(id.index)].production
    }

    mutating func decideAll(_ slot: Int32, _ verdict: ServiceState.Verdict, now: Moment) {
        for service in slots[Int(slot)].open { decide(slot, service, verdict, now: now) }
    }

    /// One service of an event has its verdict; the last one settles the event.
    mutating func decide(_ slot: Int32, _ service: Int, _ verdict: ServiceState.Verdict, now: Moment) {
        let index = serviceIndex(slot, service)
        services[index].phase = .decided
        services[index].verdict = verdict
        services[index].decidedAt = now.wall
        noteFate(index, verdict.fate)
        slots[Int(slot)].open.remove(service)
        if slots[Int(slot)].isDecided { settle(slot, now: now) }
    }

    /// Every service is decided: the records are produced, and the next event of the user may go.
    private mutating func settle(_ slot: Int32, now: Moment) {
        leaveOrder(slot)
        slots[Int(slot)].phase = .settling
        let event = slots[Int(slot)].event.pushServices
        var grouped = PushServiceSet()
        for service in event {
            let state = services[serviceIndex(slot, service)]
            if let outcome = state.verdict.outcome { addResult(slot, service, state, outcome) }
            guard state.verdict.goesOn, !grouped.contains(service) else { continue }
            var production = self.production(slot, state)
            for other in event where other >= service {
                let candidate = services[serviceIndex(slot, other)]
                guard state.goesWith(candidate) else { continue }
                production.services.insert(other)
                grouped.insert(other)
                if case .retry(_, let due, _) = candidate.verdict { production.dueAt = max(production.dueAt, due) }
                production.attempts = max(production.attempts, candidate.attempts)
            }
            counters.count(production)
            add(production)
        }
        send(slot, now: now)
    }

    /// An event that could not be read: a dead letter with its bytes, and one result.
    mutating func settleUndecodable(_ slot: Int32, reason: DeadLetterReason, now: Moment) {
        slots[Int(slot)].phase = .settling
        slots[Int(slot)].open = PushServiceSet()
        var letter = Production(slot: id(of: slot), kind: .deadLetter, services: PushServiceSet())
        letter.deadLetterReason = reason
        letter.decidedAt = now.wall
        counters.count(letter)
        add(letter)
        var result = letter
        result.kind = .result
        result.outcome = .deadLettered
        counters.count(.deadLettered, service: nil, after: age(of: slot, at: now.wall))
        add(result)
        send(slot, now: now)
    }

    @discardableResult
    private mutating func addResult(
        _ slot: Int32, _ service: Int, _ state: ServiceState, _ outcome: Outcome
    ) -> Int32 {
        var result = Production(slot: id(of: slot), kind: .result, services: PushServiceSet())
        result.services.insert(service)
        result.outcome = outcome
        result.attempts = state.attempts
        result.status = state.status
        result.decidedAt = state.decidedAt
        if case .dead(let reason) = state.verdict { result.deadLetterReason = reason }
        if case .duplicate(let first) = state.verdict { result.firstOutcome = first }
        counters.count(outcome, service: service, after: age(of: slot, at: state.decidedAt))
        if slots[Int(slot)].event.replays == 0, let pause = campaigns.count(outcome, of: slots[Int(slot)].campaign) {
            actions.append(pause)
        }
        return add(result)
    }

    /// How long ago the event was published first (milliseconds).
    private func age(of slot: Int32, at moment: WallTime) -> Int64 {
        moment.milliseconds(since: slots[Int(slot)].event.originTimestamp ?? slots[Int(slot)].timestamp ?? moment)
    }

    /// The retry or dead letter that a verdict asks for, still without its services.
    private func production(_ slot: Int32, _ state: ServiceState) -> Production {
        var production = Production(slot: id(of: slot), kind: .deadLetter, services: PushServiceSet())
        production.attempts = state.attempts
        production.status = state.status
        production.decidedAt = state.decidedAt
        switch state.verdict {
        case .retry(let delay, let due, let reason):
            production.kind = .retry
            production.delay = delay
            production.dueAt = due
            production.retryReason = reason
        case .dead(let reason): production.deadLetterReason = reason
        case .expired: production.deadLetterReason = .expired
        case .none, .delivered, .duplicate, .cancelled: preconditionFailure("only what failed goes on")
        }
        return production
    }

    /// Notes a record that the event has to cause.
    @discardableResult
    private mutating func add(_ production: Production) -> Int32 {
        let index: Int32
        if let free = freeProductions.popLast() {
            index = free
        } else {
            index = Int32(productions.count)
            productions.append(ProductionPlace())
        }
        let slot = Int(production.slot.index)
        productions[Int(index)].production = production
        productions[Int(index)].next = -1
        productionsOut += 1
        var last = slots[slot].firstProduction
        guard last >= 0 else {
            slots[slot].firstProduction = index
            return index
        }
        while productions[Int(last)].next >= 0 { last = productions[Int(last)].next }
        productions[Int(last)].next = index
        return index
    }

    /// Has the event's records produced.
    mutating func emit(_ slot: Int32) {
        var index = slots[Int(slot)].firstProduction
        while index >= 0 {
            emit(production: index)
            index = productions[Int(index)].next
        }
    }

    private mutating func emit(production index: Int32) {
        committer.recordEmitted()
        actions.append(.produce(ProductionID(index: index, generation: productions[Int(index)].generation)))
    }

    /// What is said of the event's records from now on is not about the ones that were produced before.
    mutating func renameProductions(of slot: Int32) {
        var index = slots[Int(slot)].firstProduction
        while index >= 0 {
            productions[Int(index)].generation &+= 1
            index = productions[Int(index)].next
        }
    }

    /// The broker has acknowledged a record; not told of those in a transaction, whose commit stands for all.
    public mutating func delivered(_ id: ProductionID, now: Moment) {
        guard let production = production(id) else {
            counters.stale += 1
            return
        }
        let slot = production.slot.index
        remove(production: id.index, of: slot)
        if slots[Int(slot)].firstProduction < 0 {
            if slots[Int(slot)].offset != Slot.noOffset {
                complete(partition: slots[Int(slot)].partition, offset: slots[Int(slot)].offset)
            }
            free(slot)
        }
        if case .stopping = membership { finishStopping(now: now) }
        run(now: now)
    }

    /// A record was not produced.
    ///
    /// It is offered again, smaller if it was too large; a settlement is never given up. A record that is known not to fit
    /// before the broker has it costs a transaction nothing. A transaction of which the broker refused a record is aborted,
    /// and the event is set apart: it is tried again in a transaction of its own, with whose failure nobody else fails.
    public mutating func failed(_ id: ProductionID, _ failure: ProductionFailure, now: Moment) {
        guard let production = production(id) else {
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
        case .queueFull: offerAgain(id, after: Self.queueFullPause, now: now)
        case .doesNotFit, .tooLarge:
            guard !makeSmaller(id.index, production, emits: true, now: now) else { return }
            giveUpShrinking(id)
            offerAgain(id, after: Self.productionPause + Int64(id.index % 128) * Self.refusalSpread, now: now)
        case .other: offerAgain(id, after: Self.productionPause, now: now)
        }
    }

    private mutating func failedAtomic(
        _ id: ProductionID, _ production: Production, _ failure: ProductionFailure, now: Moment
    ) {
        switch failure {
        case .queueFull:
            committer.withhold()
            offerAgain(id, after: Self.queueFullPause, now: now)
            return
        case .doesNotFit:
            if makeSmaller(id.index, production, emits: true, now: now) { return }
            setApart(id, production, isHopeless: true, now: now)
        case .tooLarge:
            // In company it says nothing of one record: brokers refuse a whole batch.
            let isToBlame = committer.state.attempt?.isAlone == true
            let isHopeless = isToBlame && !makeSmaller(id.index, production, emits: false, now: now)
            setApart(id, production, isHopeless: isHopeless, now: now)
        case .other: break
        }
        transactionFailed(now: now)
    }

    /// Nothing more can be left out of a record.
    private mutating func giveUpShrinking(_ id: ProductionID) {
        actions.append(.notice(.recordRefused))
        // By the next try its topic may take all of it.
        productions[Int(id.index)].production?.omissions = []
    }

    /// Leaves the next part of a record out; false when nothing is left that could be.
    ///
    /// In a transaction that fails all of its records come again; else this one has to be emitted.
    private mutating func makeSmaller(
        _ index: Int32, _ production: Production, emits: Bool, now: Moment
    ) -> Bool {
        var smaller = production
        if smaller.omitMore() {
            productions[Int(index)].production = smaller
            if emits { emit(production: index) }
            return true
        }
        guard production.kind == .retry else { return false }
        // The delay topic takes less than the topic that it came from: then it can only be kept as a dead letter.
        keepAsDeadLetter(index, production, emits: emits, now: now)
        return true
    }

    private mutating func keepAsDeadLetter(_ index: Int32, _ production: Production, emits: Bool, now: Moment) {
        var letter = production
        letter.kind = .deadLetter
        letter.omissions = []
        letter.deadLetterReason = .oversized
        letter.decidedAt = now.wall
        counters.count(letter)
        productions[Int(index)].production = letter
        if emits { emit(production: index) }
        for service in letter.services {
            let state = serviceIndex(letter.slot.index, service)
            services[state].verdict = .dead(.oversized)
            noteFate(state, .ended(.deadLettered))
            services[state].decidedAt = now.wall
            let result = addResult(letter.slot.index, service, services[state], .deadLettered)
            if emits { emit(production: result) }
        }
    }

    /// A record of this event was refused: it waits until it is tried in a transaction of its own, which is at once, or after a
    /// growing pause when nothing more can be left out.
    private mutating func setApart(_ id: ProductionID, _ production: Production, isHopeless: Bool, now: Moment) {
        if isHopeless { giveUpShrinking(id) }
        committer.noteCulprit()
        let slot = Int(production.slot.index)
        // Another record of it may have been refused before.
        guard slots[slot].phase != .refused else { return }
        refusedCount += 1
        slots[slot].phase = .refused
        noteDecided(production.slot.index, false)
        var pause: Int64 = 0
        if isHopeless {
            pause = min(Self.productionPause << min(slots[slot].refusals, 10), Self.longestProductionPause)
            slots[slot].refusals += 1
        }
        due.add(
            .init(
                due: now.monotonic.advanced(byMilliseconds: pause), slot: production.slot, service: 0,
                purpose: .refusedEvent))
    }

    /// The event may be offered again that had a record refused: alone, when its turn comes.
    mutating func refusedEventIsDue(_ id: SlotID, now: Moment) {
        guard isCurrent(id), slots[Int(id.index)].phase == .refused else { return }
        committer.add(suspect: id)
        advanceCommits(now: now)
    }

    /// A record that had to wait is offered again.
    mutating func productionIsDue(_ id: ProductionID) {
        guard production(id) != nil, committer.offersAgain() else { return }
        emit(production: id.index)
    }

    private mutating func offerAgain(_ id: ProductionID, after pause: Int64, now: Moment) {
        due.add(
            .init(
                due: now.monotonic.advanced(byMilliseconds: pause),
                slot: SlotID(index: id.index, generation: id.generation), service: 0, purpose: .production))
    }

    private mutating func remove(production index: Int32, of slot: Int32) {
        let next = productions[Int(index)].next
        if slots[Int(slot)].firstProduction == index {
            slots[Int(slot)].firstProduction = next
        } else {
            var before = slots[Int(slot)].firstProduction
            while productions[Int(before)].next != index { before = productions[Int(before)].next }
            productions[Int(before)].next = next
        }
        free(production: index)
    }

    private mutating func free(production index: Int32) {
        productions[Int(index)].production = nil
        productions[Int(index)].generation &+= 1
        freeProductions.append(index)
        productionsOut -= 1
    }

    mutating func complete(partition: Int32, offset: Int64) {
        partitions[Int(partition)].tracker?.complete(offset)
        committer.noteNews()
    }

    /// The event's turn among its user's events is over.
    private mutating func leaveOrder(_ slot: Int32) {
        guard slots[Int(slot)].isOrdered else { return }
        slots[Int(slot)].isOrdered = false
        // During a stop the followers have been given back already.
        guard let next = order.leave(slot), slots[Int(next)].phase == .behindUser else { return }
        activations.append(id(of: next))
    }

    /// What one large event needed in bytes does not stay with its slot, of which there are thousands.
    private static let keptScratch = 1_024

    /// Gives the slot back, and the record's message with it.
    mutating func free(_ slot: Int32) {
        let place = Int(slot)
        switch slots[place].phase {
        case .waiting: waitingCount -= 1
        case .refused: refusedCount -= 1
        case .free, .behindUser, .active, .settling: break
        }
        slots[place].phase = .free
        slots[place].generation &+= 1
        slots[place].holdsSource = false
        slots[place].isOrdered = false
        slots[place].failure = nil
        slots[place].failures.removeAll(keepingCapacity: true)
        slots[place].open = PushServiceSet()
        slots[place].callsOut = 0
        slots[place].refusals = 0
        while slots[place].firstProduction >= 0 { remove(production: slots[place].firstProduction, of: slot) }
        bufferedBytes -= slots[place].bytes
        bufferedBytesByClass[sources[Int(slots[place].source)].callClass] -= slots[place].bytes
        slots[place].event.releaseMemory(above: Self.keptScratch)
        slots[place].bytes = 0
        freeSlots.append(slot)
        actions.append(.release(slot: slot))
    }
}

extension ServiceState {
    /// Whether both go into one record: one retry for each delay and number of calls, one dead letter for each reason and
    /// status.
    func goesWith(_ other: ServiceState) -> Bool {
        switch (verdict, other.verdict) {
        case (.retry(let delay, _, let reason), .retry(let otherDelay, _, let otherReason)):
            delay == otherDelay && attempts == other.attempts && reason == otherReason
        case (.dead(let reason), .dead(let otherReason)): reason == otherReason && status == other.status
        case (.expired, .expired): status == other.status
        default: false
        }
    }
}

extension ServiceState.Verdict {
    /// The final outcome, if this is one.
    var outcome: Outcome? {
        switch self {
        case .delivered: .delivered
        case .duplicate: .duplicate
        case .expired: .expired
        case .cancelled: .cancelled
        case .dead: .deadLettered
        case .none, .retry: nil
        }
    }

    /// Whether the event goes on as a retry or dead letter.
    var goesOn: Bool {
        switch self {
        case .delivered, .duplicate, .cancelled: false
        case .none, .expired, .dead, .retry: true
        }
    }
}
