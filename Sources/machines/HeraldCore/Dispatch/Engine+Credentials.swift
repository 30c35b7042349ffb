import HeraldEvents
public import HeraldTime

/// Credentials that the backend refuses: to all calls, or to one user's.
extension Engine {
    /// The time for other calls to show that the credentials are accepted.
    static let suspectPatience: Milliseconds = .seconds(1)

    /// Notes that there is no token; a call would be refused.
    ///
    /// Holds until ``credentialsChanged(now:)``.
    public mutating func credentialsUnavailable(now: Moment) {
        credentials.areThere = false
        beginOutage(.tokenUnavailable, now: now)
    }

    /// Notes that other credentials are in use: an outage because of the former probes at once.
    public mutating func credentialsChanged(now: Moment) {
        credentials.areThere = true
        credentials.outdate(upTo: calls.sequence)
        switch outage?.reason {
        case .tokenUnavailable: endOutage(now: now)
        case .credentials, .tls, .proxyRefused, .target:
            health.outage?.probeSoon(now: now.monotonic)
            probe(now: now)
        case .nameNotFound, .breaker, .deadLetterBreaker, nil: break
        }
        probeHoldsSoon(where: { $0.reason == .credentials }, now: now)
        callSuspectsAgain(now: now)
        run(now: now)
    }

    /// Notes that ``Action/renewCredentials`` has ended, well or not: the refused calls are repeated once.
    public mutating func credentialsRenewed(now: Moment) {
        credentials.renewed()
        while let token = credentials.takeRefused() {
            let index = events.service(token)
            guard events.isCurrent(token.slot), events.services[index].phase == .awaitingCredentials else { continue }
            want(token.slot.index, Int(token.service), now: now)
        }
        run(now: now)
    }

    /// Handles 401 and 403.
    ///
    /// One refusal may be chance, or an expired token: the credentials are renewed and the call is repeated. A second
    /// refusal is this event's own fault if a call to its push service sent after its first refusal is accepted, perhaps
    /// a moment later; or if no more than a few users of its push service are refused, and another one accepts a call.
    /// Otherwise the credentials are at fault, and everything waits.
    ///
    /// Only calls *sent* later count, because answers to calls from before a password change still come in. For the
    /// same reason a second refusal of such a call, or of one from before the end of an outage, does not count.
    mutating func refused(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let index = events.place(slot, service)
        let before = events.services[index].refusedAt
        if before != 0 && credentials.isOutdated(events.services[index].sequence) {
            callOnceMore(slot, service, now: now)
            return
        }
        if before != 0 && credentials.wereAccepted(after: before, by: service) {
            reject(slot, service, result, now: now)
            return
        }
        let token = events.token(slot, service)
        let sender = senderHash(of: slot)
        if !health.holds.held.contains(service), !health.holds.excuses(sender, service, now: now.monotonic) {
            credentials.noteRefused(
                events.services[index].sequence, service, user: events[slot].userHash, sender: sender,
                isFirst: before == 0)
        }
        guard !health.isInOutage, case .assigned = membership else {
            events.noteRefused(index, at: calls.sequence)
            beginOutage(.credentials, now: now)
            want(slot, service, now: now)
            return
        }
        events.awaitCredentials(index)
        guard before == 0 else {
            suspect(token, result, now: now)
            return
        }
        events.noteRefused(index, at: calls.sequence)
        append(credentials.renew(for: token))
    }

    private mutating func suspect(_ token: CallToken, _ result: CallResult, now: Moment) {
        credentials.suspect(SuspectCall(token: token, result: result))
        schedule(.suspect(token), after: Self.suspectPatience, now: now)
        judgeRefusals(now: now)
        if isSuspect(token) { holdForRefusals(by: Int(token.service), status: result.status, now: now) }
    }

    /// Holds a push service that refuses everybody while another one speaks for the credentials: it accepted a call
    /// since, or is in use and has refused nobody.
    private mutating func holdForRefusals(by service: Int, status: Int, now: Moment) {
        guard let row = credentials.rowOfRefusals(by: service) else { return }
        guard credentials.wereAccepted(after: row.first) || hasWitness(besides: service, now: now),
            beginHold(of: service, .credentials, status: status, sender: row.sender, now: now)
        else { return }
        credentials.forgetRefusals(by: service)
        callSuspectsAgain(to: service, now: now)
    }

    /// Whether another push service speaks for the credentials: it is in use, and has refused nobody.
    private func hasWitness(besides service: Int, now: Moment) -> Bool {
        let own = PushServiceSet(index: service).union(health.holds.held)
        let witnesses = dispatcher.gate.inUse(now: now.monotonic).subtracting(credentials.refusing.services)
        return !witnesses.subtracting(own).isEmpty
    }

    /// Blames the credentials when too many users are refused, and no other push service can speak for them.
    private mutating func judgeRefusals(now: Moment) {
        let most = Credentials.mostSuspects
        guard credentials.suspects.count >= most, suspectUsers.count >= most else { return }
        let (refusing, users) = credentials.refusing
        // One push service alone is the cause until another one's calls are refused too.
        let witnesses = refusing.count > 1 ? servicesUnderWay : dispatcher.gate.inUse(now: now.monotonic)
        guard users >= most, witnesses.isSubset(of: refusing) else { return }
        blameCredentials(now: now)
    }

    /// The push services with calls under way that do not hang.
    private var servicesUnderWay: PushServiceSet {
        var services = PushServiceSet()
        events.forEachPresent { slot in
            for service in events[slot].open {
                let state = events.services[events.place(slot, service)]
                if state.phase == .calling, !state.isHanging { services.insert(service) }
            }
        }
        return services
    }

    private var suspectUsers: Set<UInt64> {
        Set(credentials.suspects.filter { isSuspect($0.token) }.map { events[$0.token.slot.index].userHash })
    }

    /// Notes that a push service accepted the credentials: its suspects first refused before that call began were refused
    /// because of their users.
    mutating func clearSuspects(now: Moment) {
        for suspect in credentials.takeSuspects() where isSuspect(suspect.token) {
            let (slot, service) = (suspect.token.slot.index, Int(suspect.token.service))
            if credentials.wereAccepted(after: events.services[events.place(slot, service)].refusedAt, by: service) {
                reject(slot, service, suspect.result, now: now)
            } else {
                credentials.suspect(suspect)
            }
        }
    }

    /// Handles a suspect for which no call has shown in time that its push service accepts the credentials.
    mutating func suspectIsDue(_ token: CallToken, now: Moment) {
        guard let suspect = credentials.suspects.first(where: { $0.token == token }), isSuspect(token) else { return }
        let (slot, service) = (token.slot.index, Int(token.service))
        holdForRefusals(by: service, status: suspect.result.status, now: now)
        guard isSuspect(token) else { return }
        if credentials.wereAccepted(after: events.services[events.place(slot, service)].refusedAt) {
            credentials.clear(token)
            reject(slot, service, suspect.result, now: now)
        } else if hasWitness(besides: service, now: now)
            || !servicesUnderWay.subtracting(PushServiceSet(index: service)).isEmpty
        {
            schedule(.suspect(token), after: Self.suspectPatience, now: now)
        } else {
            blameCredentials(now: now)
        }
    }

    private mutating func blameCredentials(now: Moment) {
        let isOneUser = suspectUsers.count == 1
        beginOutage(.credentials, now: now)
        if isOneUser { health.outage?.concernsOneUser(now: now.monotonic) }
        callSuspectsAgain(now: now)
    }

    /// Repeats each call that was refused twice, to one push service or all, and judges it by the result.
    mutating func callSuspectsAgain(to service: Int? = nil, now: Moment) {
        for suspect in credentials.takeSuspects() where isSuspect(suspect.token) {
            if let service, Int(suspect.token.service) != service {
                credentials.suspect(suspect)
            } else {
                callOnceMore(suspect.token.slot.index, Int(suspect.token.service), now: now)
            }
        }
    }

    /// Repeats a call; other calls accepted before it are no evidence about it.
    private mutating func callOnceMore(_ slot: Int32, _ service: Int, now: Moment) {
        events.noteRefused(events.place(slot, service), at: calls.sequence)
        want(slot, service, now: now)
    }

    private func isSuspect(_ token: CallToken) -> Bool {
        events.isCurrent(token.slot)
            && events.services[events.service(token)].phase == .awaitingCredentials
    }
}
