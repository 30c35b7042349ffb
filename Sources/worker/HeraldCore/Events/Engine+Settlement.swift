import HeraldEvents
import HeraldTime

extension Engine {
    mutating func decideAll(_ slot: Int32, _ verdict: ServiceState.Verdict, now: Moment) {
        for service in events[slot].open { decide(slot, service, verdict, now: now) }
    }

    /// One service of an event has its verdict; the last one settles the event.
    mutating func decide(_ slot: Int32, _ service: Int, _ verdict: ServiceState.Verdict, now: Moment) {
        noteFate(events.place(slot, service), verdict.fate)
        if events.decide(slot, service, verdict, now: now.wall) { settle(slot, now: now) }
    }

    /// Every service is decided: the records are produced, and the next event of the user may go.
    private mutating func settle(_ slot: Int32, now: Moment) {
        if let next = events.settle(slot) { activations.append(events.id(of: next)) }
        let event = events[slot].event.pushServices
        var grouped = PushServiceSet()
        for service in event {
            let state = events.services[events.place(slot, service)]
            if let outcome = state.verdict.outcome { addResult(slot, service, state, outcome) }
            guard state.verdict.goesOn, !grouped.contains(service) else { continue }
            var production = self.production(slot, state)
            for other in event where other >= service {
                let candidate = events.services[events.place(slot, other)]
                guard state.goesWith(candidate) else { continue }
                production.services.insert(other)
                grouped.insert(other)
                if case .retry(_, let due, _) = candidate.verdict { production.dueAt = max(production.dueAt, due) }
                production.attempts = max(production.attempts, candidate.attempts)
            }
            counters.count(production)
            productions.add(production)
        }
        send(slot, now: now)
    }

    /// An event that could not be read: a dead letter with its bytes, and one result.
    mutating func settleUndecodable(_ slot: Int32, reason: DeadLetterReason, now: Moment) {
        events.settleUndecodable(slot)
        var letter = Production(slot: events.id(of: slot), kind: .deadLetter, services: PushServiceSet())
        letter.deadLetterReason = reason
        letter.decidedAt = now.wall
        counters.count(letter)
        productions.add(letter)
        var result = letter
        result.kind = .result
        result.outcome = .deadLettered
        counters.count(.deadLettered, service: nil, after: age(of: slot, at: now.wall))
        productions.add(result)
        send(slot, now: now)
    }

    @discardableResult
    mutating func addResult(
        _ slot: Int32, _ service: Int, _ state: ServiceState, _ outcome: Outcome
    ) -> Int32 {
        var result = Production(slot: events.id(of: slot), kind: .result, services: PushServiceSet())
        result.services.insert(service)
        result.outcome = outcome
        result.attempts = state.attempts
        result.status = state.status
        result.decidedAt = state.decidedAt
        if case .dead(let reason) = state.verdict { result.deadLetterReason = reason }
        if case .duplicate(let first) = state.verdict { result.firstOutcome = first }
        counters.count(outcome, service: service, after: age(of: slot, at: state.decidedAt))
        if events[slot].event.replays == 0, let pause = campaigns.count(outcome, of: events[slot].campaign) {
            actions.append(pause)
        }
        return productions.add(result)
    }

    /// How long ago the event was published first (milliseconds).
    private func age(of slot: Int32, at moment: WallTime) -> Int64 {
        moment.milliseconds(since: events[slot].event.originTimestamp ?? events[slot].timestamp ?? moment)
    }

    /// The retry or dead letter that a verdict asks for, still without its services.
    private func production(_ slot: Int32, _ state: ServiceState) -> Production {
        var production = Production(slot: events.id(of: slot), kind: .deadLetter, services: PushServiceSet())
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

    mutating func complete(partition: Int32, offset: Int64) {
        partitions.complete(offset, of: partition)
        committer.noteNews()
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
