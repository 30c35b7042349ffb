import HeraldCore
import HeraldEvents

/// The checks of logs and committed offsets: promises 1 and 2.
extension Checkers {
    /// Notes a published request record for these services (-1: it is unreadable).
    ///
    /// - Parameter source: the record that it repeats.
    mutating func published(
        _ name: RecordName, _ record: LogRecord, services: [Int], campaign: Int?, subject: Subject = Subject(),
        source: RecordName? = nil
    ) -> [Int] {
        if services.isEmpty { settled[name.place, default: []].insert(name.offset) }
        let found = services.map { service in
            duties.append(
                Duty(
                    origin: name, source: source ?? name, service: service, campaign: campaign, user: record.user,
                    event: record.event, subject: subject, publishedAt: record.timestamp))
            return duties.count - 1
        }
        note(found, of: name)
        if isDeleted(name.place) || isSettled(name) { gone(found) }
        return found
    }

    // MARK: Records that were too large

    /// A record names its omissions, and only a dead letter omits the event.
    mutating func written(_ record: LogRecord, for name: RecordName, mayLackValue: Bool) {
        let omitted = record.headers.text(.omitted)?.split(separator: ",") ?? []
        guard record.value == nil else { return }
        if !mayLackValue { fail("a record that \(text(name)) causes has no value, and is no dead letter") }
        if !omitted.contains("value") {
            fail("the dead letter of \(text(name)) does not say that its value is missing")
        }
    }

    // MARK: Visible records

    /// Notes a record written without a transaction.
    mutating func appended(_ effect: Effect, at name: RecordName) {
        apply(effect, at: name)
        settle(effect)
        for duty in effect.duties {
            if duties[duty].finals.count > 1 { excuse(duty, "promise 2: \(text(duty)) has two final results") }
            if duties[duty].finals.count + duties[duty].lives.count > 1 {
                excuse(duty, "promise 2: \(text(duty)) has a final result and lives on")
            }
        }
    }

    /// Notes the records of a transaction, which become visible at once.
    mutating func committed(_ effects: [(effect: Effect, name: RecordName)]) {
        for (effect, name) in effects {
            apply(effect, at: name)
            capRecorded(effect)
        }
        for (effect, _) in effects { settle(effect) }
        for (effect, _) in effects {
            if !isSettled(effect.settles) {
                fail("promise 2: a transaction holds a part of what \(text(effect.settles)) causes")
            }
            for duty in effect.duties
            where duties[duty].finals.count + duties[duty].lives.count != 1 && !duties[duty].mayRepeat {
                fail(
                    "promise 2: \(text(duty)) has the final results \(duties[duty].finals) and lives on in "
                        + "\(duties[duty].lives.map(text))")
            }
        }
    }

    private mutating func apply(_ effect: Effect, at name: RecordName) {
        switch effect.kind {
        case .result(let outcome, let first, let reason, let attempts):
            for duty in effect.duties {
                judge(duty, outcome, reason)
                if first != nil, outcome != .duplicate { fail("\(text(duty)) is \(outcome) and names a first outcome") }
                if outcome == .duplicate {
                    if first == nil, !isKnowledgeLost {
                        fail("\(text(duty)) is a duplicate, and its worker does not say of what")
                    }
                    duties[duty].firstOutcome = first
                }
                checkAttempts(duty, attempts, mayCountRefusal: reason == .rejected)
                duties[duty].finals.append(outcome)
                duties[duty].callsOfStay = 0
            }
        case .retry(let attempts, let reason):
            for duty in effect.duties {
                if reason == .preferences, !duties[duty].subject.isPromotional {
                    fail("\(text(duty)) was held for its user's preferences, and is not promotional")
                }
                if reason == .paused, !pausedCampaigns.contains(duties[duty].campaign ?? -1) {
                    fail("\(text(duty)) was suspended, and its campaign was never paused")
                }
                if reason == .paused, duties[duty].isAnswered, !duties[duty].isExcused {
                    fail("\(text(duty)) was suspended with its campaign after its final answer")
                }
                if isDeleted(name.place) || isSettled(name) { duties[duty].isGone = true }
                if !duties[duty].finals.isEmpty {
                    excuse(duty, "promise 2: a retry of \(text(duty)) follows its final result")
                }
                checkAttempts(duty, attempts, mayCountRefusal: false)
                duties[duty].lives.append(name)
                duties[duty].callsOfStay = 0
            }
        case .deadLetter, .caps: break
        }
    }

    /// Notes the settled part of the record, which no longer lives in it.
    private mutating func settle(_ effect: Effect) {
        switch effect.kind {
        case .deadLetter, .caps: return
        case .result, .retry: break
        }
        let name = effect.settles
        for duty in effect.duties { duties[duty].lives.removeAll { $0 == name } }
        guard !isSettled(name) else { return }
        if effect.duties.count < effect.whole.count {
            partly[name, default: []].formUnion(effect.duties)
            guard partly[name]?.count == effect.whole.count else { return }
            partly[name] = nil
        }
        settle(name)
    }

    func isSettled(_ name: RecordName) -> Bool { settled[name.place]?.contains(name.offset) == true }

    /// Checks that the backend's answers justify this outcome.
    private mutating func judge(_ duty: Int, _ outcome: Outcome, _ reason: DeadLetterReason?) {
        let facts = duties[duty]
        switch outcome {
        case .duplicate where others(than: duty).isEmpty:
            fail("\(text(duty)) is said to be a duplicate, and it is there once")
        case .cancelled where !cancelledCampaigns.contains(facts.campaign ?? -1):
            fail("\(text(duty)) is said to be cancelled, and its campaign is not")
        case .cancelled where facts.isAnswered && !facts.isExcused:
            fail("\(text(duty)) is said to be cancelled after its final answer")
        case .delivered where !facts.wasDelivered:
            fail("\(text(duty)) is said to be delivered, and the backend never took it")
        case .duplicate, .cancelled, .delivered, .deadLettered, .expired, .suppressed: break
        }
        // Refused credentials are an event's own fault only if others got through after its first refusal, and it was
        // refused again with the current credentials.
        let isOwnFault = facts.wasRefusedAgain && facts.firstRefusal.map { $0 < lastAcceptance } ?? false
        if reason == .rejected, !facts.wasRejected, !isOwnFault {
            fail("\(text(duty)) is said to be rejected, and the backend never rejected it")
        }
        if reason == .unanswered, !facts.wasUnanswered {
            fail("\(text(duty)) is said to be unanswered, and it never was")
        }
        // Without transactions, records of a worker that has lost the event count, and its knowledge is unknown.
        if reason == .attemptsExhausted, facts.calls < maximumCalls, isAtomic || !facts.isExcused {
            fail("\(text(duty)) was given up after \(facts.calls) calls, \(maximumCalls) are allowed")
        }
    }

    /// Without a fault, a record tells the truth about the calls made.
    private mutating func checkAttempts(_ duty: Int, _ attempts: Int?, mayCountRefusal: Bool) {
        guard let attempts, !duties[duty].isExcused else { return }
        let heard = duties[duty].heard
        if attempts != heard, !(mayCountRefusal && attempts == heard + 1) {
            fail("\(text(duty)) says \(attempts) attempts, and there were \(heard)")
        }
    }

    /// At least once: a fault may leave a duty both settled and retried; without any fault it must not happen.
    mutating func excuse(_ duty: Int, _ violation: String) {
        if !duties[duty].mayRepeat, isAtomic || !duties[duty].isExcused { fail(violation) }
    }

    // MARK: Promise 1: no event is lost

    /// Notes that the group's next owner of the partition begins at `offset`, without the offsets of the map.
    mutating func committed(
        _ position: Position, from before: Int64, timestamp: (Int64) -> Int64, isVisible: (Int64) -> Bool
    ) {
        let place = position.place
        if position.offset < before {
            fail("a commit went back from \(before) to \(position.offset) at \(topics[place.topic])/\(place.partition)")
        }
        let done = settled[place] ?? []
        for passed in before..<max(before, position.offset) where !done.contains(passed) && isVisible(passed) {
            fail("promise 1: a commit passed \(text(RecordName(place: place, offset: passed))), which is not settled")
        }
        guard !position.metadata.isEmpty else { return }
        guard let map = map(of: position) else {
            fail("the metadata of a commit can't be read: \(position.metadata)")
            return
        }
        for range in map.done {
            for skipped in range where !done.contains(skipped) && isVisible(skipped) {
                // The next owner sees that it is another record than the done one.
                if let newest = map.evidence?.newest, timestamp(skipped) > newest { continue }
                let name = RecordName(place: place, offset: skipped)
                fail("promise 1: a commit lets the next owner skip \(text(name)), which is not settled")
            }
        }
    }

    private func map(of position: Position) -> CompletionMap? {
        let identity = PartitionIdentity(
            cluster: SimulatedCluster.identity, topic: topics[position.place.topic],
            partition: Int32(position.place.partition))
        return CompletionMap(text: position.metadata, committed: position.offset, of: identity)
    }

    /// Events settled with a commit have to be behind it, or its next owner would do them again.
    mutating func covers(_ effects: [(effect: Effect, name: RecordName)], _ positions: [Position]) {
        var done: [Place: (offset: Int64, map: CompletionMap?)] = [:]
        for position in positions {
            done[position.place] = (position.offset, map(of: position))
        }
        for (effect, _) in effects {
            let name = effect.settles
            // The offsets of a deleted topic have no meaning.
            if isDeleted(name.place) { continue }
            let (offset, map) = done[name.place] ?? (0, nil)
            if name.offset < offset || map?.done.contains(where: { $0.contains(name.offset) }) == true { continue }
            fail("promise 2: \(text(name)) was settled in a transaction whose offsets do not cover it")
        }
    }

    /// Checks at the end that every duty has its final result, and that a reader finds it.
    mutating func finish(read results: [Int]) {
        checkCaps()
        var found = Array(repeating: 0, count: duties.count)
        for duty in results { found[duty] += 1 }
        for duty in duties.indices {
            if found[duty] != duties[duty].finals.count {
                fail("a reader finds \(found[duty]) results of \(text(duty)), and there are \(duties[duty].finals)")
            }
            if duties[duty].finals.isEmpty, !duties[duty].isGone {
                fail("promise 1: \(text(duty)) has no final result")
            }
            if duties[duty].finals.count > 1 { excuse(duty, "promise 2: \(text(duty)) has two final results") }
            checkTwins(duty)
            // At least once, a retry may be written twice: then the copy is the event itself.
            if let first = duties[duty].firstOutcome, !duties[duty].finals.contains(first),
                !others(than: duty).contains(where: { wasKnown($0, first) })
            {
                fail("\(text(duty)) is said to be a duplicate of one that was \(first), and none was")
            }
        }
    }

    /// Of events that are the same one, one at least is no duplicate of the others.
    private mutating func checkTwins(_ duty: Int) {
        guard !duties[duty].finals.isEmpty else { return }
        let all = [duty] + others(than: duty)
        guard all.allSatisfy({ !duties[$0].isGone && duties[$0].finals.allSatisfy { $0 == .duplicate } }) else {
            return
        }
        fail(
            "promise 1: \(text(duty)) and all that are the same event are said to be duplicates, so nobody was notified"
        )
    }

    /// Whether a worker could know that this duty had ended so.
    private func wasKnown(_ duty: Int, _ outcome: Outcome) -> Bool {
        // Its record may have been refused, and waited for a transaction of its own when its worker died.
        let wasLost = outcome == .delivered && duties[duty].wasDelivered && duties[duty].isExcused
        // Likewise; its next worker may not have known the word, or another one held by then.
        let wasSuppressed = outcome == .suppressed && duties[duty].isExcused
        return duties[duty].finals.contains(outcome) || duties[duty].isGone || wasLost || wasSuppressed
    }
}
