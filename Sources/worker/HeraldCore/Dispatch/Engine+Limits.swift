import HeraldEvents
import HeraldTime

/// How many calls there may be: in flight, a second, and to a push service that asked for quiet.
extension Engine {
    /// So many calls may be wanted beyond those that may be in flight, so that there is always one to begin.
    static let wantedAhead = 64
    /// A push service that was not called for longer than this (milliseconds) is none that could go on.
    static let recently: Int64 = 600_000

    /// How many calls may be in flight, as was found by the time that they take.
    public var inFlightLimit: Int { calls.limit }

    /// How many calls a second a push service bears, as was found by its refusals; `nil` when there were none.
    public func rateLimit(ofService service: Int) -> Double? { gate.services[service].rate.limit }

    /// Whether a push service is left in peace because it asked for it.
    package func isPaused(service: Int, now: Moment) -> Bool {
        gate.services[service].pausedUntil.map { now.monotonic < $0 } ?? false
    }

    /// How many calls of a consumed topic's events (a request topic's index) to a push service wait for their turn.
    package func waitingCalls(ofTopic topic: Int, toService service: Int) -> Int {
        guard let source = sources.all.first(where: { $0.topic == topic }) else { return 0 }
        return wanted.count(ofClass: source.callClass, toService: service)
    }

    /// Whether a call is wanted or under way.
    package func isWanted(_ token: CallToken) -> Bool {
        let phase = events.services[events.service(token)].phase
        return events.isCurrent(token.slot) && (phase == .wanted || phase == .calling)
    }

    /// Whether an answer has made a dead letter of this call's event.
    package func isRejected(_ token: CallToken) -> Bool {
        let state = events.services[events.service(token)]
        return events.isCurrent(token.slot) && state.phase == .decided && state.verdict == .dead(.rejected)
    }

    /// How many calls may be wanted or in flight before no more records are taken.
    var takeLimit: Int {
        let limit = calls.limit
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
            guard calls.hasRoom else {
                calls.findHanging(in: &events, now: now.monotonic)
                if calls.hasRoom { continue }
                calls.noteShortage()
                break
            }
            guard let token = wanted.popFirst(among: open) else { break }
            guard start(token, now: now) else { continue }
            gate.take(Int(token.service), now: now.monotonic)
            if gate.isLimited { open = gate.open(wanted.services, now: now.monotonic) }
        }
        if gate.isLimited || !held.isEmpty { holdBack(now: now) }
    }

    /// Puts a call off when so many wait for its push service that they would hold up the others.
    ///
    /// False when it can wait in memory, which is the normal thing: then less is taken. Each request topic's events, and those
    /// that come back, have room of their own.
    mutating func putOff(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard held.contains(service), hold == nil, !configuration.retry.delays.isEmpty else { return false }
        let room = max(1, configuration.maxInFlight / 4)
        guard
            wanted.count(ofClass: callClass(of: slot), toService: service) >= room
                || heldBack >= configuration.maxInFlight
        else { return false }
        let delay = gate.putOff(
            service, queued: wanted.count(toService: service), delays: configuration.retry.delays, now: now.monotonic)
        let due = now.wall.advanced(byMilliseconds: configuration.retry.delays[delay])
        decide(slot, service, .retry(delay: delay, due: due, reason: .throttled), now: now)
        return true
    }

    /// Finds the push services that have to wait while others go on.
    private mutating func holdBack(now: Moment) {
        held = PushServiceSet()
        let recent = now.monotonic.advanced(byMilliseconds: -Self.recently)
        for service in wanted.services {
            guard gate.isLimited(service) else { continue }
            let othersGoOn = gate.services.indices.contains { other in
                other != service && gate.services[other].lastUse > recent
                    && wanted.count(toService: other) < configuration.maxInFlight / 8
            }
            if othersGoOn { held.insert(service) }
        }
    }
}
