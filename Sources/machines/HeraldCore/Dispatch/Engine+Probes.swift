import HeraldEvents
import HeraldTime

/// Chooses the probes of an outage: one event after the other, a different one each time, from the request topics
/// first.
///
/// An event that failed before may always fail by its own fault, and must not hold up events that would get through.
extension Engine {
    /// Starts the next probe when due.
    mutating func probe(now: Moment) {
        guard let due = nextProbeTime, now.monotonic >= due, mayCall(now: now) else { return }
        while let token = nextProbe(now: now.monotonic) {
            dispatcher.queue.remove(token, ofClass: callClass(of: token.slot.index))
            guard start(token, now: now) else { continue }
            health.outage?.begin(token, user: events[token.slot.index].userHash)
            return
        }
    }

    /// The time of the next probe; `nil` without one.
    var nextProbeTime: MonotonicTime? {
        guard let outage, outage.probe == nil, outage.reason != .tokenUnavailable, !dispatcher.queue.isEmpty,
            calls.hasRoomForProbe
        else { return nil }
        return outage.hasOthers ? outage.nextOther : outage.nextProbe
    }

    /// Request topics take turns, each with its longest waiting event and its newest one: so an event that arrives
    /// during the outage is called soon, even behind many that fail.
    private mutating func nextProbe(now: MonotonicTime) -> CallToken? {
        guard let outage else { return nil }
        if outage.hasOthers {
            let requests = dispatcher.queue.classes - 1
            for step in 0..<max(0, requests) {
                let number = 1 + (outage.probes + step) % requests
                let isNewest = outage.probes / requests % 2 == 1
                if let token = candidate(ofClass: number, newest: isNewest, isOther: true) { return token }
            }
            if let token = candidate(ofClass: 0, isOther: true) { return token }
            health.outage?.hasOthers = false
        }
        guard now >= outage.nextProbe else { return nil }
        for step in 0..<dispatcher.queue.classes {
            let number = (outage.probes + step) % dispatcher.queue.classes
            if let token = candidate(ofClass: number) { return token }
        }
        // The remaining calls were decided meanwhile, or their events are gone.
        dispatcher.queue.removeAll()
        return nil
    }

    /// - Parameter isOther: whether it is an event that was never called, of a user who was not called lately.
    private func candidate(ofClass number: Int, newest: Bool = false, isOther: Bool = false) -> CallToken? {
        dispatcher.queue.find(ofClass: number, newest: newest) { token in
            let slot = token.slot.index
            let state = events.services[events.place(slot, Int(token.service))]
            guard events.isCurrent(token.slot), state.phase == .wanted else { return false }
            // A push service that is held by itself says nothing about others.
            return !isOther
                || isNew(state) && outage?.hasAsked(events[slot].userHash) == false
                    && !health.holds.held.contains(Int(token.service))
        }
    }

    private func isNew(_ state: ServiceState) -> Bool { state.sequence == 0 && state.attempts == 0 }

    /// Notes a call that is wanted during an outage.
    mutating func noteCandidate(_ slot: Int32, _ service: Int) {
        guard health.isInOutage, isNew(events.services[events.place(slot, service)]) else { return }
        let number = callClass(of: slot)
        health.outage?.noteCandidate(ofClass: number)
    }

    /// The class in which the event's calls wait.
    func callClass(of slot: Int32) -> Int { Int(events[slot].callClass) }
}
