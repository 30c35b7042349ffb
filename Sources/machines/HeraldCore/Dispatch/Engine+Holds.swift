import HeraldEvents
import HeraldKernel
import HeraldTime

/// Holds of single push services, in which the others go on.
extension Engine {
    /// The push services that are held.
    public var holds: [ServiceHold] { health.holds.all }

    /// Holds a push service; without retry topics its calls would fill the memory, and it is not held.
    mutating func beginHold(of service: Int, _ reason: OutageReason, status: Int, sender: UInt64?, now: Moment) -> Bool
    {
        guard case .assigned = membership, !configuration.retry.delays.isEmpty, !health.isInOutage,
            !health.holds.held.contains(service)
        else { return false }
        let hold = ServiceHold(
            service: service, reason: reason, status: status, sender: sender,
            since: health.holds.began(service, now: now.monotonic), now: now)
        health.holds[service] = hold
        dispatcher.gate.closed = health.holds.held
        actions.append(.notice(.holdBegan(hold)))
        for token in dispatcher.queue.removeAll(toService: service) where isWanted(token) {
            if !waitsForHold(token.slot.index, service, now: now) {
                dispatcher.queue.append(token, toClass: callClass(of: token.slot.index))
            }
        }
        return true
    }

    /// - Parameter sender: that of the event that got through, if one did.
    private mutating func endHold(of service: Int, deliveredOf sender: UInt64? = nil, now: Moment) {
        guard let hold = health.holds[service] else { return }
        health.holds.end(service, deliveredOf: sender, now: now.monotonic)
        dispatcher.gate.closed = health.holds.held
        credentials.outdate(upTo: calls.sequence)
        actions.append(.notice(.holdEnded(hold)))
    }

    /// Forgets all holds, because nothing is called any more.
    mutating func dropHolds() {
        health.holds.removeAll()
        dispatcher.gate.closed = health.holds.held
    }

    /// Ends holds that these settings would not begin, and those of push services that nobody calls any more.
    mutating func endHolds(where isOver: (ServiceHold) -> Bool, now: Moment) {
        for hold in health.holds.all where isOver(hold) { endHold(of: hold.service, now: now) }
    }

    /// Makes the next probe of these holds due now.
    mutating func probeHoldsSoon(where suits: (ServiceHold) -> Bool, now: Moment) {
        for hold in health.holds.all where suits(hold) { health.holds[hold.service]?.pace.soon(now: now.monotonic) }
    }

    /// Counts a rejection; true when its push service rejects everybody, and the event waits.
    mutating func holdsForRejections(_ slot: Int32, _ service: Int, _ status: Int, now: Moment) -> Bool {
        let rule = configuration.live.deadLetterBreaker
        let sender = senderHash(of: slot)
        let most = max(Credentials.mostSuspects, DeadLetterBreaker.users(of: rule))
        guard rule.isOn, !health.holds.excuses(sender, service, now: now.monotonic),
            health.holds.rejected(
                events.services[events.place(slot, service)].sequence, by: service, status: status,
                user: events[slot].userHash, sender: sender, most: most)
        else { return false }
        let common = health.holds.senderRejected(by: service)
        return beginHold(of: service, .deadLetterBreaker, status: status, sender: common, now: now)
    }

    /// Judges the probe of a hold.
    mutating func judgeHoldProbe(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let sender = senderHash(of: slot)
        if health.holds[service]?.judgeProbe(result, now: now.monotonic) == true {
            endHold(of: service, deliveredOf: result.verdict == .delivered ? sender : nil, now: now)
        } else if health.holds[service]?.sender != sender {
            // Another sender's event is refused too.
            health.holds[service]?.sender = nil
        }
    }

    /// Has a call wait in a delay topic for the end of its push service's hold; false when it waits in memory, as a
    /// candidate for a probe.
    ///
    /// An event of which another call has its outcome waits in no memory: that outcome is to be recorded soon.
    ///
    /// - Parameter isProbe: whether it was a probe: then another call is the next.
    mutating func waitsForHold(_ slot: Int32, _ service: Int, isProbe: Bool = false, now: Moment) -> Bool {
        guard health.holds.held.contains(service), !health.isInOutage, case .assigned = membership else { return false }
        health.holds[service]?.wantedAt = now.monotonic
        if !isProbe, !hasOutcomeBeside(slot) {
            if let sender = health.holds[service]?.sender, sender != senderHash(of: slot) {
                // One sender's events are no evidence about others'.
                health.holds[service]?.pace.soon(now: now.monotonic)
                return false
            }
            if dispatcher.queue.count(toService: service) < ServiceHold.candidates { return false }
        }
        deferHeld(slot, service, now: now)
        return true
    }

    private mutating func deferHeld(_ slot: Int32, _ service: Int, now: Moment) {
        guard let hold = health.holds[service] else { return }
        decide(slot, service, waitForHold(since: hold.since, now: now), now: now)
    }

    /// A wait of one delay, for about as long as the hold has lasted, or twice that up to the slowest probe's pause.
    ///
    /// The rest of another wait would be written again and again, by the shortest delay.
    func waitForHold(since: WallTime, now: Moment) -> ServiceState.Verdict {
        let age = min(now.wall.time(since: since), Self.longestSuspension)
        let delay = configuration.retry.hop(for: max(age, min(age * 2, Outage.slowestProbeDelay))) ?? 0
        return .retry(delay: delay, due: now.wall.advanced(by: configuration.retry.delays[delay]), reason: .held)
    }

    /// Moves what waits for a hold away from an outcome that its event has.
    mutating func deferBesideOutcome(_ slot: Int32, now: Moment) {
        guard events[slot].phase == .active, !health.isInOutage, case .assigned = membership, hasOutcomeBeside(slot)
        else { return }
        for service in events[slot].open where health.holds.held.contains(service) {
            let token = events.token(slot, service)
            guard isWanted(token) else { continue }
            dispatcher.queue.remove(token, ofClass: callClass(of: slot))
            deferHeld(slot, service, now: now)
        }
    }

    /// Whether a call of the event has an outcome, which a kill would have repeated.
    private func hasOutcomeBeside(_ slot: Int32) -> Bool {
        events[slot].wasCalled && events[slot].open != events[slot].event.pushServices
    }

    /// Moves calls of held push services that have waited for too long in memory, and hold up their users' events.
    mutating func deferHeldCalls(since limit: MonotonicTime, now: Moment) {
        guard !health.holds.held.isEmpty, !health.isInOutage else { return }
        endHolds(where: { $0.wantedAt <= now.monotonic.advanced(by: -ServiceHold.lapsesAfter) }, now: now)
        for service in health.holds.held {
            for token in dispatcher.queue.removeAll(toService: service) where isWanted(token) {
                if events[token.slot.index].activeSince <= limit || hasOutcomeBeside(token.slot.index) {
                    deferHeld(token.slot.index, service, now: now)
                } else {
                    dispatcher.queue.append(token, toClass: callClass(of: token.slot.index))
                }
            }
        }
    }

    // MARK: Probes

    /// Starts the probes of holds that are due.
    mutating func probeHolds(now: Moment) {
        guard let due = nextHoldProbe, now.monotonic >= due, mayCall(now: now) else { return }
        for hold in health.holds.all where hold.probe == nil && nextProbe(of: hold) <= now.monotonic {
            while calls.hasRoomForProbe, let token = candidate(for: hold) {
                dispatcher.queue.remove(token, ofClass: callClass(of: token.slot.index))
                guard start(token, now: now) else { continue }
                _ = dispatcher.began(token, now: now.monotonic)
                health.holds[hold.service]?.begin(token)
                break
            }
        }
    }

    /// The time of the next probe of a hold; `nil` without one.
    var nextHoldProbe: MonotonicTime? {
        guard !health.holds.held.isEmpty, !health.isInOutage, calls.hasRoomForProbe else { return nil }
        var earliest: MonotonicTime?
        for hold in health.holds.all where hold.probe == nil && dispatcher.queue.count(toService: hold.service) > 0 {
            earliest = min(earliest ?? nextProbe(of: hold), nextProbe(of: hold))
        }
        return earliest
    }

    /// Limits and pauses hold for probes, too.
    func nextProbe(of hold: ServiceHold) -> MonotonicTime {
        max(hold.pace.next, dispatcher.gate.opens(PushServiceSet(index: hold.service)) ?? hold.pace.next)
    }

    /// Another sender's event first, then the topics in turns.
    private mutating func candidate(for hold: ServiceHold) -> CallToken? {
        let classes = dispatcher.queue.classes
        for isOther in hold.sender == nil ? [false] : [true, false] {
            for step in 0..<classes {
                let token = dispatcher.queue.find(ofClass: (hold.probes + step) % classes, newest: false) { token in
                    Int(token.service) == hold.service && isWanted(token)
                        && !(isOther && senderHash(of: token.slot.index) == hold.sender)
                }
                if let token { return token }
            }
        }
        // The remaining calls were decided meanwhile, or their events are gone.
        _ = dispatcher.queue.removeAll(toService: hold.service)
        return nil
    }

    private func isWanted(_ token: CallToken) -> Bool {
        events.isCurrent(token.slot) && events.services[events.service(token)].phase == .wanted
    }
}
