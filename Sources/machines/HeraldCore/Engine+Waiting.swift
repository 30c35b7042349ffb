public import HeraldEvents
public import HeraldTime

/// The reasons why events wait, derived on request from the engine's own state; none is stored.
///
/// The kind of a reason comes from the predicates that decide whether a call begins: `startCalls` and `nextCall` use
/// the same ones, in the same order.
extension Engine {
    /// The names of an event for which another one waits: its id and its request record.
    public typealias EventNames = (_ slot: Int32) -> (name: String, record: String)

    /// The reasons why the event in a slot waits, grouped by push services with the same one.
    public func waits(
        of slot: Int32, now: Moment, names: EventNames
    ) -> [(services: PushServiceSet, reason: WaitReason)] {
        let all = events[slot].event.pushServices
        guard events[slot].phase != .free else { return [] }
        if let kind = waitKind(ofWhole: slot, now: now) {
            return [(all, reason(kind, slot, service: nil, now: now, names: names))]
        }
        var waits: [(services: PushServiceSet, reason: WaitReason)] = []
        for service in all {
            let kind = waitKind(of: slot, service, hold: callHold(service, now: now), now: now)
            let reason = reason(kind, slot, service: service, now: now, names: names)
            if let index = waits.firstIndex(where: { $0.reason == reason }) {
                waits[index].services.insert(service)
            } else {
                waits.append((PushServiceSet(index: service), reason))
            }
        }
        return waits
    }

    /// The number of events by the place of ``WaitReason/Kind-swift.enum``: each counts once, by the first of its
    /// undecided push services.
    ///
    /// This looks at every event in memory, so it is for occasional use.
    public func waitCounts(now: Moment) -> [Int] {
        var counts = Array(repeating: 0, count: WaitReason.Kind.allCases.count)
        let holds = (0..<events.width).map { callHold($0, now: now) }
        events.forEachPresent { slot in
            var kind = waitKind(ofWhole: slot, now: now)
            if kind == nil, let service = events[slot].open.first {
                kind = waitKind(of: slot, service, hold: holds[service], now: now)
            }
            counts[Int((kind ?? .nextTurn).rawValue)] += 1
        }
        return counts
    }

    /// Calls `body` with every event, in no order.
    public func forEachEvent(_ body: (Int32) -> Void) { events.forEachPresent(body) }
}

// MARK: What kind

extension Engine {
    /// The reason that holds all of the event's push services; `nil` when each has its own.
    private func waitKind(ofWhole slot: Int32, now: Moment) -> WaitReason.Kind? {
        switch events[slot].phase {
        case .free, .active: nil
        case .behindUser:
            switch configuration.ordering {
            case .key: .behindUser
            case .partition: .behindPartition
            case .none: .behindSame
            }
        case .waiting: waitKind(ofWaiting: slot, now: now)
        case .refused: .recordRefused
        case .settling:
            switch committer.state {
            case .plain: .unacknowledged
            case .atomic(.preparing): .producer
            case .atomic(.closed), .atomic(.open): .transaction
            case .atomic(.ending): .transactionEnds
            }
        }
    }

    /// The reason why an event waits for a moment in memory.
    private func waitKind(ofWaiting slot: Int32, now: Moment) -> WaitReason.Kind {
        if let notBefore = events[slot].event.notBefore, notBefore > now.wall { return .notBefore }
        // It is in its line and due: only the event that it may repeat is left to wait for.
        return events[slot].isOrdered && events[slot].mayBeDuplicate && !isBeforeDue(slot, now: now)
            ? .sameUnderWay : .retryDue
    }

    private func isBeforeDue(_ slot: Int32, now: Moment) -> Bool {
        events[slot].isRetry && events[slot].event.dueAt.map { $0 > now.wall } ?? false
    }

    /// The reason why a push service of an active event is held.
    ///
    /// - Parameter hold: the reason that keeps its wanted calls from beginning.
    private func waitKind(
        of slot: Int32, _ service: Int, hold: WaitReason.Kind?, now: Moment
    ) -> WaitReason.Kind {
        switch events.services[events.place(slot, service)].phase {
        case .calling: return .calling
        case .decided: return .otherPushServices
        case .idle, .resting, .awaitingCredentials, .wanted: break
        }
        guard case .assigned = membership else { return .stopping }
        switch events.services[events.place(slot, service)].phase {
        case .resting:
            if case .paused? = campaigns.fate(of: events[slot].campaign) { return .campaignPaused }
            if isHeldForLastWord(slot, now: now) || isHeldForCaps(slot, now: now) { return .preferencesBehind }
            return .quickRetry
        case .awaitingCredentials:
            let token = events.token(slot, service)
            return credentials.suspects.contains { $0.token == token } ? .credentialsDoubt : .credentialsRenewal
        case .wanted: return hold ?? .nextTurn
        case .idle, .calling, .decided: return .nextTurn
        }
    }

    /// The reason that keeps wanted calls to a push service from beginning, if any.
    private func callHold(_ service: Int, now: Moment) -> WaitReason.Kind? {
        if health.isInOutage { return .outage }
        switch callsHold(now: now) {
        case .unproven: return .stoodStill
        case .unrecorded: return .unrecordedOutcomes
        case nil: break
        }
        if health.holds.held.contains(service) { return .pushServiceHeld }
        switch dispatcher.gate.bar(to: service, now: now.monotonic)?.bar {
        case .pause: return .backendPause
        case .limit: return .serviceLimit
        case .learned: return .learnedLimit
        case .total: return .totalLimit
        case nil: return calls.hasRoom ? nil : .callsInFlight
        }
    }

    private func callsHold(now: Moment) -> Exposure.Hold? {
        if let since = refusals.first?.since, now.monotonic < refusals.nextCall { return .unrecorded(since: since) }
        return committer.hold(
            recordsOut: productions.count, now: now.monotonic, within: configuration.maxUnrecorded)
    }
}

// MARK: What it is about

extension Engine {
    private func reason(
        _ kind: WaitReason.Kind, _ slot: Int32, service: Int?, now: Moment, names: EventNames
    ) -> WaitReason {
        let id = events.id(of: slot)
        let token = events.token(slot, service ?? 0)
        /// The time at which a reminder is due; now when it is overdue.
        func moment(_ suits: (Reminder) -> Bool) -> WallTime {
            due.earliest(where: suits).map { now.wall($0) } ?? now.wall
        }
        func limit() -> WaitReason.Limit {
            let opens = dispatcher.gate.bar(to: Int(token.service), now: now.monotonic)?.opens ?? now.monotonic
            return WaitReason.Limit(
                pushService: configuration.decoder.pushServices.names[Int(token.service)], opens: now.wall(opens),
                ahead: dispatcher.queue.ahead(of: token, ofClass: callClass(of: slot)))
        }
        switch kind {
        case .calling:
            let began = calls.began(events.services[events.service(token)].sequence)
            return .calling(since: began.map { now.wall($0) })
        case .nextTurn: return .nextTurn
        case .behindUser: return ahead(of: slot, now: now, names: names).map(WaitReason.behindUser) ?? .nextTurn
        case .behindPartition:
            return ahead(of: slot, now: now, names: names).map(WaitReason.behindPartition) ?? .nextTurn
        case .behindSame: return ahead(of: slot, now: now, names: names).map(WaitReason.behindSame) ?? .nextTurn
        case .sameUnderWay: return .sameUnderWay(until: moment { $0 == .event(id) })
        case .notBefore: return .notBefore(until: moment { $0 == .event(id) })
        case .retryDue: return .retryDue(until: moment { $0 == .event(id) })
        case .quickRetry: return .quickRetry(until: moment { $0 == .quickRetry(token) })
        case .campaignPaused:
            guard case .paused(let since)? = campaigns.fate(of: events[slot].campaign) else { return .nextTurn }
            return .campaignPaused(since: since, until: moment { $0 == .quickRetry(token) })
        case .preferencesBehind:
            if !isHeldForLastWord(slot, now: now),
                let reason = capWait(slot, until: moment { $0 == .quickRetry(token) }, now: now)
            {
                return reason
            }
            return .preferencesBehind(
                since: configuration.lastWord?.knownUntil(now), until: moment { $0 == .quickRetry(token) })
        case .credentialsRenewal: return .credentialsRenewal
        case .credentialsDoubt: return .credentialsDoubt(until: moment { $0 == .suspect(token) })
        case .outage:
            guard let outage else { return .nextTurn }
            // A probe is a call, too, and waits for a commit as all do. An event that has just arrived may be probed at
            // once.
            let probe = callsHold(now: now) == nil ? nextProbeTime.map { max($0, now.monotonic) } : nil
            return .outage(
                cause: outage.reason.word, since: outage.since, nextProbe: probe.map { now.wall($0) })
        case .pushServiceHeld:
            guard let hold = health.holds[Int(token.service)] else { return .nextTurn }
            let probe =
                hold.probe == nil && calls.hasRoomForProbe ? max(nextProbe(of: hold), now.monotonic) : nil
            return .pushServiceHeld(
                configuration.decoder.pushServices.names[hold.service], since: hold.since,
                nextProbe: probe.map { now.wall($0) })
        case .unrecordedOutcomes:
            guard case .unrecorded(let since)? = callsHold(now: now) else { return .nextTurn }
            return .unrecordedOutcomes(since: now.wall(since))
        case .stoodStill: return .stoodStill
        case .backendPause: return .backendPause(limit())
        case .serviceLimit: return .serviceLimit(limit())
        case .totalLimit: return .totalLimit(limit())
        case .learnedLimit: return .learnedLimit(limit())
        case .callsInFlight:
            return .callsInFlight(callsInFlight, until: calls.nextHanging.map { now.wall($0) })
        case .otherPushServices: return .otherPushServices
        case .stopping: return .stopping(until: membership.stop.map { now.wall($0.deadline) } ?? now.wall)
        case .unacknowledged:
            let offered = due.earliest { purpose in
                if case .production(let record) = purpose { productions[record]?.slot == id } else { false }
            }
            return .unacknowledged(until: offered.map { now.wall($0) })
        case .transaction:
            // An immediate action has no moment.
            let next = commitDue.flatMap { $0 > now.monotonic ? $0 : nil }
            return .transaction(until: next.map { now.wall($0) })
        case .transactionEnds: return .transactionEnds(until: commitDue.map { now.wall($0) })
        case .producer: return .producer
        case .recordRefused:
            return .recordRefused(until: due.earliest { $0 == .refusedEvent(id) }.map { now.wall($0) })
        }
    }

    private var callsInFlight: WaitReason.Load {
        var each = Array(repeating: 0, count: events.width)
        events.forEachPresent { slot in
            for service in events[slot].open where events.services[events.place(slot, service)].phase == .calling {
                each[service] += 1
            }
        }
        let (service, its) = each.enumerated().max { $0.element < $1.element } ?? (0, 0)
        let room = calls.room
        return WaitReason.Load(
            calls: calls.inFlight, hanging: room.hanging,
            pushService: configuration.decoder.pushServices.names[service], its: its, limit: room.limit)
    }

    private func ahead(of slot: Int32, now: Moment, names: EventNames) -> WaitReason.Ahead? {
        guard let (first, count) = events.ahead(of: slot) else { return nil }
        let doing = waits(of: first, now: now, names: names).map { services, reason in
            services.map { configuration.decoder.pushServices.names[$0] }.joined(separator: ", ") + " "
                + reason.phrase
        }
        let (name, record) = names(first)
        return WaitReason.Ahead(name: name, record: record, count: count, doing: doing.joined(separator: "; "))
    }
}
