import HeraldEvents
import HeraldTime

/// Whether many calls fail because something is wrong with the backend or the settings, or only some users' calls do.
extension Engine {
    /// A call failed for now.
    mutating func noteFailure(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        guard let place = placeOfEvidence(slot, service) else { return }
        if breaker.failed(place, user: events[slot].userHash, now: now) {
            beginHold(.breaker, status: result.status, now: now)
        }
    }

    /// A call was answered, and not because the backend can't just now.
    mutating func notePass(_ slot: Int32, _ service: Int, isDelivered: Bool, now: Moment) {
        breaker.passed(placeOfEvidence(slot, service), now: now)
        if isDelivered { fuse.pass(source: sourceOfEvidence(slot), now: now.monotonic) }
    }

    /// Counts an answer that rejects; true when the fuse has blown, and the event waits.
    mutating func blows(_ slot: Int32, _ status: Int, now: Moment) -> Bool {
        if let hold { return hold.reason == .fuse && hold.status == status }
        let source = sourceOfEvidence(slot)
        guard
            fuse.fail(status: status, user: events[slot].userHash, source: source, now: now.monotonic)
        else { return false }
        beginHold(.fuse, status: status, source: source, now: now)
        return true
    }

    /// Where the breaker counts a call; `nil` when it says nothing about others: its event has failed before, and others
    /// have got through since.
    private func placeOfEvidence(_ slot: Int32, _ service: Int) -> Int? {
        if events.services[events.place(slot, service)].attempts > 0 {
            let before = events[slot].failures.last?.at ?? events[slot].timestamp
            if let before, breaker.lastPass >= before { return nil }
        }
        return callClass(of: slot) * events.width + service
    }

    /// What the fuse takes for one source: the same `source` in the same topic.
    func sourceOfEvidence(_ slot: Int32) -> UInt64 {
        events[slot].sourceHash &+ UInt64(callClass(of: slot)) &* 0x9E37_79B9_7F4A_7C15
    }
}
