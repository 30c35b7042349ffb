import HeraldEvents
import HeraldKernel
package import HeraldTime

/// How many calls there may be: in flight, a second, and to a push service that asked for quiet.
extension Engine {
    /// So many calls may be wanted beyond those that may be in flight, so that there is always one to begin.
    static let wantedAhead = 64

    /// How many calls may be in flight, as was found by the time that they take.
    public var inFlightLimit: Int { calls.limit }

    /// How many calls a second a push service bears, as was found by its refusals; `nil` when there were none.
    public func rateLimit(ofService service: Int) -> Double? { dispatcher.gate.services[service].rate.limit }

    /// Whether a push service is left in peace because it asked for it.
    package func isPaused(service: Int, now: Moment) -> Bool {
        dispatcher.gate.services[service].pausedUntil.map { now.monotonic < $0 } ?? false
    }

    /// How many calls of a consumed topic's events (a request topic's index) to a push service wait for their turn.
    package func waitingCalls(ofTopic topic: Int, toService service: Int) -> Int {
        guard let source = sources.all.first(where: { $0.topic == topic }) else { return 0 }
        return dispatcher.queue.count(ofClass: source.callClass, toService: service)
    }

    /// Whether an answer has made a dead letter of this call's event.
    package func isRejected(_ token: CallToken) -> Bool {
        let state = events.services[events.service(token)]
        return events.isCurrent(token.slot) && state.phase == .decided && state.verdict == .dead(.rejected)
    }

    /// Whether this call's event waits for its campaign, whatever was answered.
    package func isSuspended(_ token: CallToken) -> Bool {
        let state = events.services[events.service(token)]
        guard events.isCurrent(token.slot), state.phase == .decided, case .retry(_, _, .paused) = state.verdict else {
            return false
        }
        return true
    }

    /// How many calls may be wanted or in flight before no more records are taken.
    var takeLimit: Int {
        let limit = calls.limit
        guard limit < configuration.live.maxInFlight else { return limit }
        return min(configuration.live.maxInFlight, limit + max(Self.wantedAhead, limit / 4))
    }

    /// Starts wanted calls as far as the limits allow.
    mutating func startCalls(now: Moment) {
        guard !health.isInOutage, case .assigned = membership, !dispatcher.queue.isEmpty, mayCall(now: now) else {
            return
        }
        var open = dispatcher.open(now: now.monotonic)
        while !open.isEmpty {
            guard calls.hasRoom else {
                calls.findHanging(in: &events, now: now.monotonic)
                if calls.hasRoom { continue }
                calls.noteShortage()
                break
            }
            guard let token = dispatcher.next(among: open) else { break }
            guard start(token, now: now) else { continue }
            if refusals.isOut {
                // One call is enough to see whether its outcome is taken.
                _ = dispatcher.began(token, now: now.monotonic)
                break
            }
            if dispatcher.began(token, now: now.monotonic) { open = dispatcher.open(now: now.monotonic) }
        }
        dispatcher.findDeferred(now: now.monotonic)
    }

    /// Defers a call for whose push service too many wait; false when it can wait in memory.
    mutating func defers(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard dispatcher.deferred.contains(service), !health.isInOutage,
            let delay = dispatcher.deferral(of: service, ofClass: callClass(of: slot), now: now.monotonic)
        else { return false }
        let due = now.wall.advanced(by: configuration.retry.delays[delay])
        decide(slot, service, .retry(delay: delay, due: due, reason: .throttled), now: now)
        return true
    }
}
