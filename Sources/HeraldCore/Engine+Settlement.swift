import HeraldEvents
import HeraldTime

extension Engine {
    /// How long to wait before a refused record is offered again (milliseconds).
    static let productionPause: Int64 = 1_000
    /// How long to wait for room in the producer's queue (milliseconds).
    static let queueFullPause: Int64 = 10

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
        slots[Int(slot)].open.remove(service)
        if slots[Int(slot)].isDecided { settle(slot) }
    }

    /// Every service is decided: the records are produced, and the next event of the user may go.
    private mutating func settle(_ slot: Int32) {
        leaveOrder(slot)
        slots[Int(slot)].phase = .settling
        let event = slots[Int(slot)].event.pushServices
        var grouped = PushServiceSet()
        for service in event {
            let state = services[serviceIndex(slot, service)]
            if let outcome = state.verdict.outcome { produceResult(slot, service, state, outcome) }
            guard state.verdict != .delivered, !grouped.contains(service) else { continue }
            var production = self.production(slot, state)
            for other in event where other >= service {
                let candidate = services[serviceIndex(slot, other)]
                guard state.goesWith(candidate) else { continue }
                production.services.insert(other)
                grouped.insert(other)
                if case .retry(_, let due, _) = candidate.verdict { production.dueAt = max(production.dueAt, due) }
                production.attempts = max(production.attempts, candidate.attempts)
            }
            if production.kind == .retry { counters.retried += 1 }
            produce(production)
        }
    }

    /// An event that could not be read: a dead letter with its bytes, and one result.
    mutating func settleUndecodable(_ slot: Int32, reason: DeadLetterReason, now: Moment) {
        slots[Int(slot)].phase = .settling
        slots[Int(slot)].open = PushServiceSet()
        counters.deadLettered += 1
        var letter = Production(slot: id(of: slot), kind: .deadLetter, services: PushServiceSet())
        letter.deadLetterReason = reason
        letter.decidedAt = now.wall
        produce(letter)
        var result = letter
        result.kind = .result
        result.outcome = .deadLettered
        produce(result)
    }

    private mutating func produceResult(_ slot: Int32, _ service: Int, _ state: ServiceState, _ outcome: Outcome) {
        var result = Production(slot: id(of: slot), kind: .result, services: PushServiceSet())
        result.services.insert(service)
        result.outcome = outcome
        result.attempts = state.attempts
        result.status = state.status
        result.decidedAt = state.decidedAt
        if case .dead(let reason) = state.verdict { result.deadLetterReason = reason }
        switch outcome {
        case .delivered: counters.delivered += 1
        case .expired: counters.expired += 1
        case .deadLettered, .cancelled, .duplicate: counters.deadLettered += 1
        }
        produce(result)
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
        case .none, .delivered: preconditionFailure("only what failed goes on")
        }
        return production
    }

    private mutating func produce(_ production: Production) {
        let index: Int32
        if let free = freeProductions.popLast() {
            index = free
        } else {
            index = Int32(productions.count)
            productions.append(ProductionPlace())
        }
        productions[Int(index)].production = production
        slots[Int(production.slot.index)].productionsOut += 1
        productionsOut += 1
        actions.append(.produce(ProductionID(index: index, generation: productions[Int(index)].generation)))
    }

    /// The broker has acknowledged a record.
    public mutating func delivered(_ id: ProductionID, now: Moment) {
        guard let production = production(id) else {
            counters.stale += 1
            return
        }
        freeProduction(id.index)
        productionsOut -= 1
        let slot = Int(production.slot.index)
        slots[slot].productionsOut -= 1
        if slots[slot].productionsOut == 0 {
            if slots[slot].offset != Slot.noOffset {
                complete(partition: slots[slot].partition, offset: slots[slot].offset)
            }
            free(Int32(slot))
        }
        if case .stopping = membership { finishStopping(now: now) }
        run(now: now)
    }

    /// A record was not produced.
    ///
    /// It is trimmed or offered again; a settlement is never given up.
    public mutating func failed(_ id: ProductionID, _ failure: ProductionFailure, now: Moment) {
        guard let production = production(id) else {
            counters.stale += 1
            return
        }
        switch failure {
        case .tooLarge where !production.isTrimmed && production.kind != .result:
            productions[Int(id.index)].production?.isTrimmed = true
            actions.append(.produce(id))
        case .tooLarge where production.kind == .retry:
            // The delay topic takes less than the topic that it came from: then it can only be kept as a dead letter.
            var letter = production
            letter.kind = .deadLetter
            letter.deadLetterReason = .oversized
            letter.decidedAt = now.wall
            productions[Int(id.index)].production = letter
            actions.append(.produce(id))
            for service in letter.services {
                let index = serviceIndex(letter.slot.index, service)
                services[index].verdict = .dead(.oversized)
                services[index].decidedAt = now.wall
                produceResult(letter.slot.index, service, services[index], .deadLettered)
            }
        case .queueFull:
            offerAgain(id, after: Self.queueFullPause, now: now)
        case .tooLarge, .other:
            actions.append(.notice(.recordRefused))
            offerAgain(id, after: Self.productionPause, now: now)
        }
    }

    private mutating func offerAgain(_ id: ProductionID, after pause: Int64, now: Moment) {
        due.add(
            .init(
                due: now.monotonic.advanced(byMilliseconds: pause),
                slot: SlotID(index: id.index, generation: id.generation), service: 0, purpose: .production))
    }

    mutating func freeProduction(_ index: Int32) {
        productions[Int(index)].production = nil
        productions[Int(index)].generation &+= 1
        freeProductions.append(index)
    }

    mutating func complete(partition: Int32, offset: Int64) {
        partitions[Int(partition)].tracker?.complete(offset)
        hasNewWatermark = true
    }

    /// The event's turn among its user's events is over.
    private mutating func leaveOrder(_ slot: Int32) {
        guard slots[Int(slot)].isOrdered else { return }
        slots[Int(slot)].isOrdered = false
        // During a stop the followers have been given back already.
        guard let next = order.leave(slot), slots[Int(next)].phase == .behindUser else { return }
        activations.append(id(of: next))
    }

    /// Gives the slot back, and the record's message with it.
    mutating func free(_ slot: Int32) {
        let place = Int(slot)
        if slots[place].phase == .waiting { waitingCount -= 1 }
        slots[place].phase = .free
        slots[place].generation &+= 1
        slots[place].holdsSource = false
        slots[place].isOrdered = false
        slots[place].failure = nil
        slots[place].failures.removeAll(keepingCapacity: true)
        slots[place].open = PushServiceSet()
        slots[place].callsOut = 0
        slots[place].productionsOut = 0
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
        case .expired: .expired
        case .dead: .deadLettered
        case .none, .retry: nil
        }
    }
}
