import HeraldEvents
import HeraldTime

/// Outages, in which no events are taken and only one probe at a time is called, and the evidence of calls.
extension Engine {
    mutating func beginOutage(_ reason: OutageReason, status: Int = 0, source: UInt64 = 0, now: Moment) {
        guard case .assigned = membership else { return }
        let outage = Outage(
            reason: reason, status: status, source: source, classes: dispatcher.queue.classes, now: now)
        if health.begin(outage) { actions.append(.notice(.outageBegan(reason))) }
    }

    /// - Parameter source: the source of the event that got through, if one did.
    mutating func endOutage(source: UInt64? = nil, now: Moment) {
        guard let reason = health.end(source: source) else { return }
        // Whatever its latest reason: the outage may have begun with the credentials.
        credentials.outdate(upTo: calls.sequence)
        actions.append(.notice(.outageEnded(reason)))
        // An event that waited for the end of the outage was not held up by another event.
        events.restartActive(now: now.monotonic)
    }

    /// Judges the outage's probe.
    mutating func judgeProbe(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        switch health.judgeProbe(result, ofClass: callClass(of: slot), to: service, now: now) {
        case .well: endOutage(source: result.verdict == .delivered ? sourceOfEvidence(slot, service) : nil, now: now)
        case .unwell: break
        case .unwellBecause(let reason): actions.append(.notice(.outageBegan(reason)))
        }
    }

    /// Counts a rejection; true when too many of all calls are rejected, and the event waits.
    mutating func trips(_ slot: Int32, _ service: Int, _ status: Int, now: Moment) -> Bool {
        if let outage { return outage.reason == .deadLetterBreaker && outage.status == status }
        if countsForCampaign(slot, service, status, now: now) { return false }
        let source = sourceOfEvidence(slot, service)
        guard health.rejected(status: status, user: events[slot].userHash, source: source, now: now.monotonic)
        else { return holdsForRejections(slot, service, status, now: now) }
        beginOutage(.deadLetterBreaker, status: status, source: source, now: now)
        return true
    }

    /// The place where the breaker counts a call; `nil` when it is no evidence about others: its event has failed
    /// before, and other calls have got through since.
    func placeOfEvidence(_ slot: Int32, _ service: Int) -> Int? {
        if events.services[events.place(slot, service)].attempts > 0 {
            let before = events[slot].failures.last?.at ?? events[slot].timestamp
            if let before, health.lastPass >= before { return nil }
        }
        return callClass(of: slot) * events.width + service
    }

    /// A source for the dead-letter breaker: the same `source`, or the same campaign, in the same topic and for the same
    /// push service.
    func sourceOfEvidence(_ slot: Int32, _ service: Int) -> UInt64 {
        senderHash(of: slot) &+ UInt64(callClass(of: slot) * events.width + service) &* 0x9E37_79B9_7F4A_7C15
    }

    /// The hash of the event's campaign, or else of its `source`.
    func senderHash(of slot: Int32) -> UInt64 {
        let campaign = events[slot].campaign
        return campaign == 0 ? events[slot].sourceHash : campaign
    }
}
