import HeraldEvents
import HeraldTime

/// Times in which nothing is taken and nothing is called but one probe at a time.
extension Engine {
    /// There is no token to call with; a call would be refused.
    ///
    /// Holds until ``credentialsChanged(now:)``.
    public mutating func credentialsUnavailable(now: Moment) {
        hasCredentials = false
        beginHold(.tokenUnavailable, now: now)
    }

    /// Other credentials are in use: a hold because of the former probes at once.
    public mutating func credentialsChanged(now: Moment) {
        hasCredentials = true
        switch hold?.reason {
        case .tokenUnavailable: endHold(now: now)
        case .credentials, .tls, .proxyRefused:
            hold?.probeSoon(now: now.monotonic)
            probe(now: now)
        default: break
        }
        run(now: now)
    }

    /// What ``Action/renewCredentials`` asked for has ended, well or not: the calls that were refused are made once more.
    public mutating func credentialsRenewed(now: Moment) {
        isRenewing = false
        while let token = refusedCalls.popFirst() {
            let index = serviceIndex(token.slot.index, Int(token.service))
            guard isCurrent(token.slot), services[index].phase == .awaitingCredentials else { continue }
            want(token.slot.index, Int(token.service), now: now)
        }
        run(now: now)
    }

    /// 401 or 403.
    ///
    /// Once may be chance, or a token that has expired: the credentials are renewed and the call is made again. Refused
    /// again, it is this event's own fault if a call that was sent after its first refusal was accepted; else it is the
    /// credentials, and everything waits.
    ///
    /// Only calls *sent* later count, because answers to calls sent before a password was changed still come in.
    mutating func refused(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let index = serviceIndex(slot, service)
        let before = services[index].refusedAt
        if before != 0 && acceptedSequence > before {
            reject(slot, service, result, now: now)
            return
        }
        services[index].refusedAt = sequence
        guard before == 0, hold == nil, case .assigned = membership else {
            beginHold(.credentials, now: now)
            want(slot, service, now: now)
            return
        }
        services[index].phase = .awaitingCredentials
        refusedCalls.append(CallToken(slot: id(of: slot), service: UInt8(service)))
        guard !isRenewing else { return }
        isRenewing = true
        actions.append(.renewCredentials)
    }

    mutating func beginHold(_ reason: HoldReason, status: Int = 0, now: Moment) {
        guard case .assigned = membership else { return }
        if let current = hold {
            // Without a token there is nothing to probe with.
            guard reason == .tokenUnavailable, current.reason != reason else { return }
        }
        hold = Hold(reason: reason, status: status, now: now.monotonic)
        actions.append(.notice(.holdBegan(reason)))
    }

    mutating func endHold(now: Moment) {
        guard let hold else { return }
        self.hold = nil
        breaker.reset()
        fuse.reset()
        actions.append(.notice(.holdEnded(hold.reason)))
        // Who waited for the backend's end of the hold was not held up by another event.
        for index in slots.indices where slots[index].phase == .active { slots[index].activeSince = now.monotonic }
    }

    /// A hold ends when its probe is answered with any status that shows its cause to be gone; no answer at all proves
    /// nothing.
    mutating func judgeProbe(_ meaning: Meaning, status: Int, now: Moment) {
        guard let reason = hold?.reason else { return }
        var isWell = false
        switch meaning {
        case .answered(.credentials): hold?.reason = .credentials
        case .unreachable(let reason): hold?.reason = reason
        case .failedForNow: break
        case .answered(.transient): isWell = reason != .breaker && reason != .fuse
        case .answered(.rejected): isWell = reason != .fuse || hold?.status != status
        case .answered(.delivered): isWell = true
        }
        if isWell {
            endHold(now: now)
        } else {
            hold?.probeFailed(now: now.monotonic)
            if let hold, hold.reason != reason { actions.append(.notice(.holdBegan(hold.reason))) }
        }
    }

    /// Whether a call that ended so waits for the end of the hold, because it failed by the hold's cause, or was its probe.
    func waitsForHold(_ meaning: Meaning, status: Int, isProbe: Bool) -> Bool {
        guard let hold else { return false }
        switch meaning {
        case .answered(.delivered), .answered(.credentials): return false
        case .unreachable: return true
        case .failedForNow: return isProbe || hold.reason == .breaker
        case .answered(.transient): return hold.reason == .breaker || isProbe
        case .answered(.rejected): return hold.reason == .fuse && hold.status == status
        }
    }

    /// During a hold: starts the next probe when its time has come.
    mutating func probe(now: Moment) {
        guard let held = hold, held.reason != .tokenUnavailable, held.probe == nil, now.monotonic >= held.nextProbe
        else { return }
        while let token = wanted.popFirst(among: .all) {
            if start(token, now: now) {
                hold?.probe = token
                return
            }
        }
    }
}
