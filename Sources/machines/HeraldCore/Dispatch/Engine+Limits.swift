import HeraldEvents
import HeraldKernel
package import HeraldTime

/// Limits of calls: in flight, per second, and for a push service that requested a pause.
extension Engine {
    /// The number of wanted calls beyond the limit in flight, so that one can always begin.
    static let wantedAhead = 64

    /// The learned limit of calls in flight.
    public var inFlightLimit: Int { calls.limit }

    /// The learned calls a second of a push service; `nil` when none were refused.
    public func rateLimit(ofService service: Int) -> Double? { dispatcher.gate.services[service].rate.limit }

    /// Whether a push service is paused at its own request.
    package func isPaused(service: Int, now: Moment) -> Bool {
        dispatcher.gate.services[service].pausedUntil.map { now.monotonic < $0 } ?? false
    }

    /// The number of waiting calls of a consumed topic's events (a request topic's index) to a push service.
    package func waitingCalls(ofTopic topic: Int, toService service: Int) -> Int {
        guard let source = sources.all.first(where: { $0.topic == topic }) else { return 0 }
        return dispatcher.queue.count(ofClass: source.callClass, toService: service)
    }

    /// Whether an answer has made this call's event a dead letter.
    package func isRejected(_ token: CallToken) -> Bool {
        let state = events.services[events.service(token)]
        return events.isCurrent(token.slot) && state.phase == .decided && state.verdict == .dead(.rejected)
    }

    /// The number of calls wanted or in flight at which no more records are taken.
    var takeLimit: Int {
        let limit = calls.limit
        guard limit < configuration.live.maxInFlight else { return limit }
        return min(configuration.live.maxInFlight, limit + max(Self.wantedAhead, limit / 4))
    }

    /// Starts wanted calls within the limits.
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
            guard let token = dispatcher.queue.popFirst(among: open) else { break }
            guard start(token, now: now) else { continue }
            if refusals.holdsCalls {
                // One call is enough to see whether its outcome is accepted.
                _ = dispatcher.began(token, now: now.monotonic)
                break
            }
            if dispatcher.began(token, now: now.monotonic) { open = dispatcher.open(now: now.monotonic) }
        }
        dispatcher.findDeferred(now: now.monotonic)
    }

    /// Defers a call when too many wait for its push service; false when it can wait in memory.
    mutating func defers(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard dispatcher.deferred.contains(service), !health.isInOutage,
            let delay = dispatcher.deferral(of: service, ofClass: callClass(of: slot), now: now.monotonic)
        else { return false }
        let due = now.wall.advanced(by: configuration.retry.delays[delay])
        decide(slot, service, .retry(delay: delay, due: due, reason: .throttled), now: now)
        return true
    }
}
