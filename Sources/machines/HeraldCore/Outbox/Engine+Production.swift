import HeraldEvents
public import HeraldTime

/// Records on their way to the broker: their outcomes, and the refused ones.
extension Engine {
    /// The wait before a refused record is offered again.
    static let productionPause: Milliseconds = .seconds(1)
    /// The longest wait before a refused record is offered again, in a transaction.
    static let longestProductionPause: Milliseconds = .minutes(1)
    /// The wait for room in the producer's queue.
    static let queueFullPause: Milliseconds = .milliseconds(10)
    /// The time between records refused in one batch, which are offered again each in a batch of its own.
    static let refusalSpread: Milliseconds = .milliseconds(30)

    /// The record of an action `produce`; `nil` when its event was given up meanwhile.
    public func production(_ id: ProductionID) -> Production? { productions[id] }

    /// Produces the event's records.
    mutating func emit(_ slot: Int32, now: Moment) {
        var next = productions.first(of: slot)
        while let index = next {
            emit(production: index, now: now)
            next = productions.next(behind: index)
        }
    }

    private mutating func emit(production index: Int32, now: Moment) {
        if refusals.hasAvoided { takeDetour(index, now: now) }
        committer.recordEmitted()
        actions.append(.produce(productions.id(of: index)))
    }

    /// Notes an acknowledged record; not called in a transaction, whose commit stands for all.
    public mutating func delivered(_ id: ProductionID, now: Moment) {
        guard let production = productions[id] else {
            counters.stale += 1
            return
        }
        let slot = production.slot.index
        if refusals.isAny { noteAccepted(topic: place(of: production)) }
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

    /// Notes a record that was not produced.
    ///
    /// It is offered again, smaller if it was too large; a settlement is never given up. A record known to be too large
    /// before the broker has it costs a transaction nothing. A transaction with refused records is aborted, and their
    /// events are isolated: they are tried again in transactions of their own, whose failure affects no other event
    /// (``Suspects``).
    public mutating func failed(_ id: ProductionID, _ failure: ProductionFailure, now: Moment) {
        guard let production = productions[id] else {
            counters.stale += 1
            return
        }
        switch committer.state {
        case .plain: failedPlain(id, production, failure, now: now)
        case .atomic(.open), .atomic(.ending(_, .committing, _)): failedAtomic(id, production, failure, now: now)
        case .atomic(.ending(_, .aborting, _)):
            // An abort fails everything still on its way, which is no evidence about the records.
            if failure.isOfRecord { failedAtomic(id, production, failure, now: now) }
        case .atomic: break
        }
    }

    private mutating func failedPlain(
        _ id: ProductionID, _ production: Production, _ failure: ProductionFailure, now: Moment
    ) {
        switch failure {
        case .queueFull: schedule(.production(id), after: Self.queueFullPause, now: now)
        case .doesNotFit, .tooLarge, .refused:
            if failure != .doesNotFit,
                hasDetour(production, isKnown: productions.isRefused(id.index), now: now)
            {
                emit(production: id.index, now: now)
                return
            }
            if failure != .refused, makeFit(id.index, production, failure, emits: true, now: now) { return }
            // A record known to be too large is at fault itself, and so is one refused in a batch of its own.
            let tries = productions.noteRefusal(id.index)
            let isFirst = tries == (failure == .doesNotFit ? 0 : 1)
            if isFirst || tries > 0 && refusals.isOut(place(of: production)) {
                _ = refusals.refused(place(of: production), now: now.monotonic)
            }
            giveUpShrinking(id)
            let spread = Self.refusalSpread * Int64(id.index % 128)
            let pause = Self.productionPause.doubled(times: min(tries, 3))
            schedule(.production(id), after: pause + spread, now: now)
        case .topicMissing where isElsewhere(production, now: now):
            emit(production: id.index, now: now)
        case .topicMissing, .other: schedule(.production(id), after: Self.productionPause, now: now)
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
            if makeFit(id.index, production, failure, emits: committer.state.isOpen, now: now) { return }
            isolate(id, production, isHopeless: true, now: now)
        case .tooLarge, .refused:
            // In company it is no evidence about one record: brokers refuse a whole batch.
            let isToBlame = committer.state.attempt?.isTrial == true && committer.members.count == 1
            let slot = production.slot.index
            if hasDetour(production, isKnown: events[slot].refusals > 0, now: now) {
                if isToBlame {
                    isolate(id, production, isHopeless: false, now: now)
                    break
                }
                // It takes others along once: after that it may be the record itself.
                if !events[slot].isDetoured {
                    events.noteDetour(slot)
                    committer.noteCulprit()
                    break
                }
            }
            let isHopeless =
                isToBlame
                && (failure == .refused || !makeFit(id.index, production, failure, emits: false, now: now))
            isolate(id, production, isHopeless: isHopeless, now: now)
        // The others are written again at once, and this one goes to another topic.
        case .topicMissing where isElsewhere(production, now: now): committer.noteCulprit()
        case .topicMissing, .other: break
        }
        transactionFailed(now: now)
    }

    /// Handles a refused record from which nothing more can be omitted.
    private mutating func giveUpShrinking(_ id: ProductionID) {
        guard var whole = productions[id] else { return }
        actions.append(.notice(.recordRefused(topic: topic(of: whole))))
        guard case .copy(var copy) = whole.content else { return }
        // By the next attempt its topic may take all of it.
        copy.omitLeast()
        whole.content = .copy(copy)
        productions.replace(id.index, with: whole)
    }

    /// Omits the next part of a record, or has a retry go by way of another delay's topic; false without either.
    ///
    /// In a transaction that fails all of its records come again; otherwise this one has to be emitted.
    private mutating func makeFit(
        _ index: Int32, _ production: Production, _ failure: ProductionFailure, emits: Bool, now: Moment
    ) -> Bool {
        guard case .copy(var copy) = production.content else { return false }
        if copy.omitMore() {
            var smaller = production
            smaller.content = .copy(copy)
            productions.replace(index, with: smaller)
        } else {
            guard case .retry(let delay, _, _) = copy.destination else { return false }
            copy.unfit.insert(delay)
            // A topic that answers is avoided with those before it: only what is known of a limit leaves another one.
            guard failure == .doesNotFit,
                let other = refusals.replacement(of: delay, besides: copy.unfit, now: now.monotonic)
            else {
                // Its source topic's limit is higher than that of each delay's.
                keepAsDeadLetter(index, production, copy.services, emits: emits, now: now)
                return true
            }
            redirect(index, production, copy, to: other)
        }
        if emits { emit(production: index, now: now) }
        return true
    }

    private mutating func keepAsDeadLetter(
        _ index: Int32, _ production: Production, _ services: PushServiceSet, emits: Bool, now: Moment
    ) {
        let copy = EventCopy(destination: .deadLetter(.oversized), services: services)
        let words = UnfitRetry.detail(topics: configuration.retryDelays.map(configuration.topics.retryTopic))
        var letter = production
        letter.content = .copy(copy)
        letter.decidedAt = now.wall
        counters.count(copy)
        productions.replace(index, with: letter)
        if emits { emit(production: index, now: now) }
        for service in services {
            let place = events.place(letter.slot.index, service)
            events.replaceVerdict(place, .oversized, adding: words, now: now.wall)
            noteFate(place, .ended(.deadLettered))
            let result = addResult(letter.slot.index, service, events.services[place], .deadLettered(.oversized))
            if emits { emit(production: result, now: now) }
        }
    }

    /// Isolates an event with a refused record until it is tried without others.
    ///
    /// That is at once, or after a growing pause when it is at fault itself. If its topic takes nothing, it waits for
    /// that.
    private mutating func isolate(_ id: ProductionID, _ production: Production, isHopeless: Bool, now: Moment) {
        if isHopeless { giveUpShrinking(id) }
        committer.noteCulprit()
        let slot = production.slot.index
        // Another record of it may have been refused before.
        guard events[slot].phase != .refused else { return }
        setApart(slot)
        let topic = place(of: production)
        let isOther = events[slot].refusingTopic != topic
        events.setRefusing(slot, topic)
        if isHopeless {
            let isFirst = events.countRefusal(slot) == 1 || isOther
            if isFirst || refusals.isOut(topic), refusals.refused(topic, now: now.monotonic) {
                holdSuspects(of: topic, now: now)
            }
        }
        if refusals.isOut(topic) {
            committer.suspects.hold(production.slot, until: now.monotonic.advanced(by: TopicRefusals.trialPause))
        } else if isHopeless {
            let pause = Self.productionPause.doubled(times: min(events[slot].refusals - 1, 10))
            schedule(.refusedEvent(production.slot), after: min(pause, Self.longestProductionPause), now: now)
        } else {
            committer.suspects.refuse(production.slot)
        }
    }

    /// Removes the event from the members of the next commit.
    mutating func setApart(_ slot: Int32) {
        events.isolate(slot)
        partitions.undecide(events[slot].offset, of: events[slot].partition)
    }

    /// Offers an event with a refused record again, when due.
    mutating func refusedEventIsDue(_ id: SlotID, now: Moment) {
        guard events.isCurrent(id), events[id.index].phase == .refused else { return }
        let topic = events[id.index].refusingTopic
        if refusals.isOut(topic) {
            committer.suspects.hold(id, until: now.monotonic.advanced(by: TopicRefusals.trialPause))
        } else {
            committer.suspects.add(id)
        }
        advanceCommits(now: now)
    }

    /// Offers a waiting record again, when due.
    mutating func productionIsDue(_ id: ProductionID, now: Moment) {
        guard productions[id] != nil, committer.offersAgain() else { return }
        emit(production: id.index, now: now)
    }
}

/// Retries that go by way of another delay's topic, because their own refuses records.
extension Engine {
    /// A delay topic that refused records lately.
    public struct Detour: Sendable, Equatable {
        /// Its name.
        public var topic: String
        /// The topic by way of which its retries go meanwhile.
        public var instead: String
        /// Since when it refuses records.
        public var since: MonotonicTime
        /// How many retries have gone another way since.
        public var retries: Int
    }

    /// The delay topics that refused records lately, while another one takes them.
    public func detours(now: MonotonicTime) -> [Detour] {
        refusals.detours(now: now).map { detour in
            Detour(
                topic: topic(at: TopicRefusals.firstDelay + detour.delay),
                instead: topic(at: TopicRefusals.firstDelay + detour.instead), since: detour.since,
                retries: detour.retries)
        }
    }

    /// Notes which topics are not there: retries for them go to another delay's until they are.
    public mutating func use(missingTopics: Set<String>, now: Moment) {
        for delay in configuration.retryDelays.indices {
            note(delay: delay, isMissing: missingTopics.contains(topic(at: TopicRefusals.firstDelay + delay)), now: now)
        }
    }

    /// Notes that a topic is not there, as a client has learned.
    public mutating func topicIsMissing(_ name: String, now: Moment) {
        let delay = configuration.retryDelays.indices.first { topic(at: TopicRefusals.firstDelay + $0) == name }
        if let delay { note(delay: delay, isMissing: true, now: now) }
    }

    /// Notes that a record's topic is not there; true when another delay's takes its records.
    private mutating func isElsewhere(_ production: Production, now: Moment) -> Bool {
        guard case .copy(let copy) = production.content, case .retry(let delay, _, _) = copy.destination else {
            return false
        }
        note(delay: delay, isMissing: true, now: now)
        return refusals.detour(of: delay, besides: copy.unfit, now: now.monotonic) != nil
    }

    private mutating func note(delay: Int, isMissing: Bool, now: Moment) {
        guard refusals.setMissing(isMissing, delay: delay, now: now.monotonic) else { return }
        let place = TopicRefusals.firstDelay + delay
        guard let other = refusals.detour(of: delay, now: now.monotonic) else { return }
        actions.append(
            .notice(.retriesDetoured(from: topic(at: place), to: topic(at: TopicRefusals.firstDelay + other))))
        // A coordinator never adds the partitions of a topic that is missing: without this the transaction would last until
        // its time is over, and all others with it.
        guard committer.members.contains(where: { events.isCurrent($0) && places(of: $0.index).contains(place) }) else {
            return
        }
        switch committer.state {
        case .atomic(.open):
            committer.noteCulprit()
            transactionFailed(now: now)
        case .atomic(.ending(_, .committing, _)):
            committer.noteCulprit()
            actions.append(.giveUpRecords)
        case .plain, .atomic: break
        }
    }

    /// Notes a refused retry; true when it goes to another topic, as all others of its topic do for a while.
    ///
    /// - Parameter isKnown: whether its event was refused for its own sake before: that says nothing about a topic of which
    ///   nothing else is known.
    private mutating func hasDetour(_ production: Production, isKnown: Bool, now: Moment) -> Bool {
        guard case .copy(let copy) = production.content, case .retry(let delay, _, _) = copy.destination else {
            return false
        }
        let isNew = (!isKnown || refusals.isProven(delay)) && refusals.avoid(delay: delay, now: now.monotonic)
        guard let other = refusals.detour(of: delay, besides: copy.unfit, now: now.monotonic) else { return false }
        if isNew {
            let instead = topic(at: TopicRefusals.firstDelay + other)
            actions.append(.notice(.retriesDetoured(from: topic(of: production), to: instead)))
        }
        return true
    }

    /// Has a retry go to another delay's topic while its own refuses records; when it is due does not change.
    private mutating func takeDetour(_ index: Int32, now: Moment) {
        guard let production = productions[productions.id(of: index)], case .copy(let copy) = production.content,
            case .retry(let delay, _, _) = copy.destination,
            let other = refusals.detour(of: delay, besides: copy.unfit, now: now.monotonic)
        else { return }
        refusals.noteDetour(of: delay)
        redirect(index, production, copy, to: other)
    }

    /// Has a retry go by way of another delay's topic.
    private mutating func redirect(_ index: Int32, _ production: Production, _ copy: EventCopy, to other: Int) {
        guard case .retry(_, let dueAt, let reason) = copy.destination else { return }
        var (production, copy) = (production, copy)
        copy.destination = .retry(delay: other, dueAt: dueAt, reason: reason)
        // The other topic may take all of it.
        copy.omissions = []
        production.content = .copy(copy)
        productions.replace(index, with: production)
        for service in copy.services {
            noteFate(events.place(production.slot.index, service), .retrying(delay: other))
        }
    }
}

/// Topics that accept no records.
extension Engine {
    /// The topic that accepts none of this engine's records, or hardly any, and since when; `nil` without one.
    public var refusingTopic: (name: String, since: MonotonicTime)? {
        refusals.first.map { (topic(at: $0.topic), $0.since) }
    }

    /// How many events wait because a topic refuses a record of theirs for its own sake, by topic; an event is counted from
    /// the first refusal until its outcome is durable, also while it is tried again.
    public var refusedEvents: [String: Int] {
        Dictionary(uniqueKeysWithValues: events.culprits.map { (topic(at: $0.key), $0.value) })
    }

    /// The topics of the records in the transaction: a broker that allows one of them not does not say which.
    public var topicsInTransaction: Set<String> {
        var topics: Set<String> = []
        for id in committer.members where events.isCurrent(id) {
            for place in places(of: id.index) { topics.insert(topic(at: place)) }
        }
        return topics
    }

    /// The places of the topics of an event's records.
    private func places(of slot: Int32) -> Set<Int> {
        var places: Set<Int> = []
        var next = productions.first(of: slot)
        while let index = next {
            if let production = productions[productions.id(of: index)] { places.insert(place(of: production)) }
            next = productions.next(behind: index)
        }
        return places
    }

    /// The place of a record's topic among the written ones.
    private func place(of production: Production) -> Int {
        switch production.content {
        case .result: return 0
        case .copy(let copy):
            guard case .retry(let delay, _, _) = copy.destination else { return 1 }
            return TopicRefusals.firstDelay + delay
        case .caps: return 2
        }
    }

    private func topic(at place: Int) -> String {
        switch place {
        case 0: configuration.topics.results
        case 1: configuration.topics.deadLetter
        case 2: configuration.topics.caps
        default: configuration.topics.retryTopic(configuration.retryDelays[place - TopicRefusals.firstDelay])
        }
    }

    private mutating func holdSuspects(of topic: Int, now: Moment) {
        let next = now.monotonic.advanced(by: TopicRefusals.trialPause)
        let topics = refusals.equals(of: topic)
        committer.suspects.hold(until: next) { id in
            events.isCurrent(id) && topics.contains(events[id.index].refusingTopic)
        }
    }

    /// Notes that all records of the event are durable.
    mutating func noteAccepted(_ slot: Int32) {
        for topic in places(of: slot).sorted() { noteAccepted(topic: topic) }
    }

    private mutating func noteAccepted(topic: Int) {
        guard refusals.accepted(topic) else { return }
        let topics = refusals.equals(of: topic)
        committer.suspects.release { id in
            events.isCurrent(id) && topics.contains(events[id.index].refusingTopic)
        }
    }
}
