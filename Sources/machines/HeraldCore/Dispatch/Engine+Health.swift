import HeraldEvents
import HeraldTime

/// Times in which nothing is taken and nothing is called but one probe at a time, and what calls are evidence of.
extension Engine {
    mutating func beginOutage(_ reason: OutageReason, status: Int = 0, source: UInt64 = 0, now: Moment) {
        guard case .assigned = membership else { return }
        let outage = Outage(
            reason: reason, status: status, source: source, classes: dispatcher.queue.classes, now: now)
        if health.begin(outage) { actions.append(.notice(.outageBegan(reason))) }
    }

    /// - Parameter source: of the event that got through, if one did.
    mutating func endOutage(source: UInt64? = nil, now: Moment) {
        guard let reason = health.end(source: source) else { return }
        // Whatever it was called last: it may have begun with the credentials.
        credentials.outdate(upTo: calls.sequence)
        actions.append(.notice(.outageEnded(reason)))
        // An event that waited for the end of the outage was not held up by another event.
        events.restartActive(now: now.monotonic)
    }

    /// The outage's probe ended.
    mutating func judgeProbe(_ slot: Int32, _ result: CallResult, now: Moment) {
        switch health.judgeProbe(result, ofClass: callClass(of: slot), now: now) {
        case .well: endOutage(source: result.verdict == .delivered ? sourceOfEvidence(slot) : nil, now: now)
        case .unwell: break
        case .unwellBecause(let reason): actions.append(.notice(.outageBegan(reason)))
        }
    }

    /// Counts an answer that rejects; true when too many answers do, of all calls or of its campaign's, and the event
    /// waits.
    mutating func trips(_ slot: Int32, _ status: Int, now: Moment) -> Bool {
        if let outage { return outage.reason == .deadLetterBreaker && outage.status == status }
        if let isHeld = holdsCampaign(of: slot, status, now: now) { return isHeld }
        let source = sourceOfEvidence(slot)
        guard health.rejected(status: status, user: events[slot].userHash, source: source, now: now.monotonic)
        else { return false }
        beginOutage(.deadLetterBreaker, status: status, source: source, now: now)
        return true
    }

    /// Where the breaker counts a call; `nil` when it says nothing about others: its event has failed before, and others
    /// have got through since.
    func placeOfEvidence(_ slot: Int32, _ service: Int) -> Int? {
        if events.services[events.place(slot, service)].attempts > 0 {
            let before = events[slot].failures.last?.at ?? events[slot].timestamp
            if let before, health.lastPass >= before { return nil }
        }
        return callClass(of: slot) * events.width + service
    }

    /// What the dead-letter breaker takes for one source: the same `source` in the same topic, or the same campaign.
    func sourceOfEvidence(_ slot: Int32) -> UInt64 {
        let campaign = events[slot].campaign
        return (campaign == 0 ? events[slot].sourceHash : campaign) &+ UInt64(callClass(of: slot))
            &* 0x9E37_79B9_7F4A_7C15
    }
}
