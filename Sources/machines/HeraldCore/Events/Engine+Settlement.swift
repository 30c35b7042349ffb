import HeraldEvents
import HeraldTime

extension Engine {
    mutating func decideAll(_ slot: Int32, _ verdict: ServiceState.Verdict, now: Moment) {
        for service in events[slot].open { decide(slot, service, verdict, now: now) }
    }

    /// Decides one service of an event; the last one settles the event.
    mutating func decide(_ slot: Int32, _ service: Int, _ verdict: ServiceState.Verdict, now: Moment) {
        noteFate(events.place(slot, service), verdict.fate)
        if events.decide(slot, service, verdict, now: now.wall) { settle(slot, now: now) }
    }

    /// Every service is decided: the records are produced, and the next event of the user may go.
    private mutating func settle(_ slot: Int32, now: Moment) {
        noteTurn(slot, now: now)
        if let next = events.settle(slot) { activations.append(events.id(of: next)) }
        let event = events[slot].event.pushServices
        var grouped = PushServiceSet()
        for service in event {
            let state = events.services[events.place(slot, service)]
            if let outcome = state.verdict.final { addResult(slot, service, state, outcome) }
            guard !grouped.contains(service), var copy = state.verdict.copy(for: service) else { continue }
            var attempts = state.attempts
            for other in event where other > service {
                let candidate = events.services[events.place(slot, other)]
                guard state.goesWith(candidate) else { continue }
                copy.services.insert(other)
                grouped.insert(other)
                copy.postpone(until: candidate.verdict)
                attempts = max(attempts, candidate.attempts)
            }
            counters.count(copy)
            if case .retry(let delay, let due, let reason) = copy.destination, reason?.isWanted != true {
                // What somebody wants to wait does not wait for Herald.
                noteDelayed(slot, delay: delay, due: due, now: now.wall)
            }
            productions.add(
                Production(
                    slot: events.id(of: slot), content: .copy(copy), attempts: attempts, status: state.status,
                    decidedAt: state.decidedAt))
        }
        if isCapped(slot), event.contains(where: { events.services[events.place(slot, $0)].verdict == .delivered }) {
            productions.add(
                Production(slot: events.id(of: slot), content: .caps(partition: home(of: slot)), decidedAt: now.wall))
        }
        send(slot, now: now)
    }

    /// Settles an undecodable event: a dead letter with its bytes, if there are any, and one result.
    mutating func settleUndecodable(_ slot: Int32, reason: DeadLetterReason, now: Moment) {
        events.settleUndecodable(slot)
        var letter = EventCopy(destination: .deadLetter(reason), services: PushServiceSet())
        letter.omitLeast()
        counters.count(letter)
        counters.count(
            .deadLettered, service: nil, of: Int(events[slot].requestTopic), after: age(of: slot, at: now.wall))
        let id = events.id(of: slot)
        productions.add(Production(slot: id, content: .copy(letter), decidedAt: now.wall))
        productions.add(
            Production(slot: id, content: .result(.deadLettered(reason), service: nil), decidedAt: now.wall))
        send(slot, now: now)
    }

    private mutating func noteDelayed(_ slot: Int32, delay: Int, due: WallTime, now: WallTime) {
        delayed.note(
            delay: delay, due: due, topic: Int(events[slot].requestTopic), since: events.waitsSince(slot), now: now)
    }

    @discardableResult
    mutating func addResult(_ slot: Int32, _ service: Int, _ state: ServiceState, _ final: FinalOutcome) -> Int32 {
        counters.count(
            final.outcome, service: service, of: Int(events[slot].requestTopic),
            after: age(of: slot, at: state.decidedAt))
        counters.count(omitted: omitted(from: slot, final.outcome, service), service: service)
        if events[slot].event.replays == 0, let pause = campaigns.count(final.outcome, of: events[slot].campaign) {
            actions.append(pause)
        }
        return productions.add(
            Production(
                slot: events.id(of: slot), content: .result(final, service: service), attempts: state.attempts,
                status: state.status, decidedAt: state.decidedAt))
    }

    /// The time since the event was first published.
    private func age(of slot: Int32, at moment: WallTime) -> Milliseconds {
        moment.time(since: events[slot].publishedAt)
    }

    mutating func complete(partition: Int32, offset: Int64) {
        partitions.complete(offset, of: partition)
        committer.noteNews()
    }
}

extension ServiceState {
    /// Whether both share a record: one retry for each delay and number of calls, one dead letter for each reason and
    /// status.
    func goesWith(_ other: ServiceState) -> Bool {
        switch verdict {
        case .retry(let delay, _, let reason):
            if case .retry(delay, _, reason) = other.verdict { attempts == other.attempts } else { false }
        case .dead, .expired: verdict == other.verdict && status == other.status
        // Their outcomes are results alone, without a record to share.
        case .none, .delivered, .duplicate, .cancelled, .suppressed: false
        }
    }
}

extension ServiceState.Verdict {
    /// The event's outcome for the push service, if final.
    var final: FinalOutcome? {
        switch self {
        case .delivered: .delivered
        case .duplicate(let first): .duplicate(of: first)
        case .expired: .expired
        case .cancelled: .cancelled
        case .suppressed(let suppression): .suppressed(suppression.reason)
        case .dead(let reason): .deadLettered(reason)
        case .none, .retry: nil
        }
    }

    /// The copy in which the event continues for a push service; `nil` without one.
    func copy(for service: Int) -> EventCopy? {
        let services = PushServiceSet(index: service)
        return switch self {
        case .none, .delivered, .duplicate, .cancelled, .suppressed: nil
        case .expired: EventCopy(destination: .deadLetter(.expired), services: services)
        case .dead(let reason): EventCopy(destination: .deadLetter(reason), services: services)
        case .retry(let delay, let due, let reason):
            EventCopy(destination: .retry(delay: delay, dueAt: due, reason: reason), services: services)
        }
    }
}

extension EventCopy {
    /// Postpones the shared retry to the last of its push services.
    fileprivate mutating func postpone(until verdict: ServiceState.Verdict) {
        guard case .retry(let delay, let dueAt, let reason) = destination, case .retry(_, let due, _) = verdict,
            due > dueAt
        else { return }
        destination = .retry(delay: delay, dueAt: due, reason: reason)
    }
}
