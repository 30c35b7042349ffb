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
    /// refusal is this event's own fault if a call sent after its first refusal is accepted, perhaps a moment later.
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
        if before != 0 && credentials.wereAccepted(after: before) {
            reject(slot, service, result, now: now)
            return
        }
        let token = events.token(slot, service)
        if before == 0 { credentials.noteRefused(events.services[index].sequence) }
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
        let most = Credentials.mostSuspects
        guard credentials.areRefusedInRow, credentials.suspects.count >= most, suspectUsers.count >= most else {
            return
        }
        blameCredentials(now: now)
    }

    private var suspectUsers: Set<UInt64> {
        Set(credentials.suspects.filter { isSuspect($0.token) }.map { events[$0.token.slot.index].userHash })
    }

    /// Notes that the credentials were accepted: suspects first refused before that call began were refused because of
    /// their users.
    mutating func clearSuspects(now: Moment) {
        for suspect in credentials.takeSuspects() where isSuspect(suspect.token) {
            let (slot, service) = (suspect.token.slot.index, Int(suspect.token.service))
            if credentials.wereAccepted(after: events.services[events.place(slot, service)].refusedAt) {
                reject(slot, service, suspect.result, now: now)
            } else {
                credentials.suspect(suspect)
            }
        }
    }

    /// Handles a suspect for which no call has shown in time that the credentials are accepted.
    mutating func suspectIsDue(_ token: CallToken, now: Moment) {
        guard credentials.suspects.contains(where: { $0.token == token }), isSuspect(token) else { return }
        blameCredentials(now: now)
    }

    private mutating func blameCredentials(now: Moment) {
        let isOneUser = suspectUsers.count == 1
        beginOutage(.credentials, now: now)
        if isOneUser { health.outage?.concernsOneUser(now: now.monotonic) }
        callSuspectsAgain(now: now)
    }

    /// Repeats each call that was refused twice, and judges it by the result.
    mutating func callSuspectsAgain(now: Moment) {
        for suspect in credentials.takeSuspects() where isSuspect(suspect.token) {
            callOnceMore(suspect.token.slot.index, Int(suspect.token.service), now: now)
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
