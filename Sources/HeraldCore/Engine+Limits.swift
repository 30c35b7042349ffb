import HeraldEvents
import HeraldTime

/// How many calls there may be: in flight, a second, and to a push service that asked for quiet.
extension Engine {
    /// So many calls may be wanted beyond those that may be in flight, so that there is always one to begin.
    static let wantedAhead = 64
    /// A push service that was not called for longer than this (milliseconds) is none that could go on.
    static let recently: Int64 = 5_000

    /// How many calls may be in flight, as was found by the time that they take.
    public var inFlightLimit: Int { concurrency.limit }

    /// How many calls a second a push service bears, as was found by its refusals; `nil` when there were none.
    public func rateLimit(ofService service: Int) -> Double? { gate.services[service].rate.limit }

    /// How many calls of a consumed topic's events (a request topic's index) to a push service wait for their turn.
    package func waitingCalls(ofTopic topic: Int, toService service: Int) -> Int {
        guard let source = sources.first(where: { $0.topic == topic }) else { return 0 }
        return wanted.count(ofClass: source.callClass, toService: service)
    }

    /// Whether a call is wanted or under way.
    package func isWanted(_ token: CallToken) -> Bool {
        let phase = services[serviceIndex(token.slot.index, Int(token.service))].phase
        return isCurrent(token.slot) && (phase == .wanted || phase == .calling)
    }

    /// Whether an answer has made a dead letter of this call's event.
    package func isRejected(_ token: CallToken) -> Bool {
        let state = services[serviceIndex(token.slot.index, Int(token.service))]
        return isCurrent(token.slot) && state.phase == .decided && state.verdict == .dead(.rejected)
    }

    /// How many calls may be wanted or in flight before no more records are taken.
    var takeLimit: Int {
        let limit = concurrency.limit
        guard limit < configuration.maxInFlight else { return limit }
        return min(configuration.maxInFlight, limit + max(Self.wantedAhead, limit / 4))
    }

    /// How many wanted calls wait for a push service of their own while others go on.
    var heldBack: Int {
        guard !held.isEmpty else { return 0 }
        var sum = 0
        for service in held { sum += wanted.count(toService: service) }
        return sum
    }

    /// Starts wanted calls as far as the limits allow.
    mutating func startCalls(now: Moment) {
        guard hold == nil, case .assigned = membership, !wanted.isEmpty, mayCall(now: now) else { return }
        var open = gate.open(wanted.services, now: now.monotonic)
        while !open.isEmpty {
            guard hasRoomForCall else {
                noteHangingCalls(now: now.monotonic)
                if hasRoomForCall { continue }
                concurrency.reached()
                break
            }
            guard let token = wanted.popFirst(among: open) else { break }
            guard start(token, now: now) else { continue }
            gate.take(Int(token.service), now: now.monotonic)
            if gate.isLimited { open = gate.open(wanted.services, now: now.monotonic) }
        }
        if gate.isLimited || !held.isEmpty { holdBack(now: now) }
    }

    /// Puts a call off whose push service has to be left in peace for longer than memory is for.
    ///
    /// False when it can wait in memory.
    mutating func putOff(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard gate.isLimited, hold == nil, let shortest = configuration.retry.delays.first else { return false }
        let isCrowded = wanted.count(toService: service) >= configuration.maxInFlight / 4
        var wait: Int64
        if let pause = gate.pause(of: service, now: now.monotonic) {
            guard pause >= shortest || isCrowded else { return false }
            wait = max(pause, shortest)
        } else {
            guard isCrowded, held.contains(service) else { return false }
            wait = gate.putOff(service, least: shortest, now: now.monotonic)
        }
        wait = min(wait, configuration.retry.retryAfterLimit)
        decide(
            slot, service,
            .retry(
                delay: configuration.retry.hop(for: wait) ?? 0, due: now.wall.advanced(byMilliseconds: wait),
                reason: .throttled), now: now)
        return true
    }

    /// The backend can't take more calls to this push service at the moment.
    mutating func throttled(_ service: Int, _ result: CallResult, now: Moment) {
        // Its duration is rounded down. Taken for later than it was, the rest of a burst would count against the limit
        // that its beginning has led to.
        let sentAt = now.monotonic.advanced(byMilliseconds: -Int64(result.durationMilliseconds) - 1)
        gate.refused(service, sentAt: sentAt, pause: result.retryAfter, now: now.monotonic)
        putOffWaiting(service, now: now)
    }

    /// What waits already for a push service that is paused for long need not wait in memory either.
    mutating func putOffWaiting(_ service: Int, now: Moment) {
        guard hold == nil, case .assigned = membership, let shortest = configuration.retry.delays.first,
            let pause = gate.pause(of: service, now: now.monotonic), pause >= shortest
        else { return }
        while let token = wanted.popFirst(toService: service) {
            let index = serviceIndex(token.slot.index, service)
            guard isCurrent(token.slot), services[index].phase == .wanted else { continue }
            _ = putOff(token.slot.index, service, now: now)
        }
    }

    /// Finds the push services that have to wait while others go on.
    private mutating func holdBack(now: Moment) {
        held = PushServiceSet()
        let recent = now.monotonic.advanced(byMilliseconds: -Self.recently)
        for service in wanted.services {
            if gate.pause(of: service, now: now.monotonic) != nil {
                held.insert(service)
            } else if gate.isPaced(service) {
                let othersGoOn = gate.services.indices.contains { other in
                    other != service && gate.services[other].lastCall > recent
                        && wanted.count(toService: other) < configuration.maxInFlight / 8
                }
                if othersGoOn { held.insert(service) }
            }
        }
    }
}
