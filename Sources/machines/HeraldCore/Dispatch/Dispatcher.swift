import HeraldEvents
import HeraldKernel
import HeraldTime

/// The wanted calls that have not begun: their turns, their times, and their deferrals to a retry topic.
///
/// A wanted call waits in the queue until its push service is *open*: not limited, not paused. A push service for which
/// too many wait while others continue is *deferred*: its further calls wait in the retry topics.
struct Dispatcher: Sendable {
    /// A push service without a call for longer than this is not one of those that could continue.
    static let recentTime: Milliseconds = .minutes(10)

    private let width: Int
    private var maxInFlight: Int
    private let delays: [Milliseconds]
    var queue: CallQueue
    var gate: CallGate
    /// The push services for which too many calls wait.
    private(set) var deferred = PushServiceSet()

    init(configuration: EngineConfiguration, width: Int) {
        self.width = width
        maxInFlight = configuration.live.maxInFlight
        delays = configuration.retry.delays
        queue = CallQueue(width: width, weights: [1])
        gate = CallGate(
            total: configuration.live.callsPerSecond, limits: Self.limits(configuration.live, width: width))
    }

    /// Replaces the limits.
    mutating func use(_ live: LiveConfiguration) {
        maxInFlight = live.maxInFlight
        gate.use(total: live.callsPerSecond, limits: Self.limits(live, width: width))
    }

    private static func limits(_ live: LiveConfiguration, width: Int) -> [Double?] {
        (0..<width).map { service in
            live.serviceCallsPerSecond.indices.contains(service) ? live.serviceCallsPerSecond[service] : nil
        }
    }

    /// Begins an assignment whose classes of calls have these weights.
    mutating func assigned(width: Int, weights: [Int]) {
        queue = CallQueue(width: width, weights: weights)
        gate.forgetDeferrals()
    }

    /// Forgets all calls.
    mutating func forgetCalls() {
        queue.removeAll()
        deferred = PushServiceSet()
    }

    /// The number of wanted calls that hold up records: not those of a deferred push service, which wait while others
    /// continue.
    var pressing: Int {
        guard !deferred.isEmpty else { return queue.count }
        return queue.count - deferredCount
    }

    private var deferredCount: Int {
        var sum = 0
        for service in deferred { sum += queue.count(toService: service) }
        return sum
    }
}

// MARK: Turns

extension Dispatcher {
    /// The push services that have wanted calls and are open.
    mutating func open(now: MonotonicTime) -> PushServiceSet { gate.open(queue.services, now: now) }

    /// The time at which the first of them may be called; `nil` without any.
    var opens: MonotonicTime? {
        if queue.isEmpty { return nil }
        guard gate.isLimited || !gate.closed.isEmpty else { return .distantPast }
        let services = queue.services.subtracting(gate.closed)
        if services.isEmpty { return nil }
        return gate.isLimited ? gate.opens(services) : .distantPast
    }

    /// Notes that a call begins; true when others may have to wait for it.
    mutating func began(_ token: CallToken, now: MonotonicTime) -> Bool {
        gate.take(Int(token.service), now: now)
        return gate.isLimited
    }
}

// MARK: The backend's limits

extension Dispatcher {
    /// The index of the delay by which a call is deferred because its push service's waiting calls would hold up the
    /// others.
    ///
    /// `nil` when it can wait in memory, which is normal: then fewer events are taken. Each request topic's events, and
    /// the returning ones, have room of their own.
    mutating func deferral(of service: Int, ofClass number: Int, now: MonotonicTime) -> Int? {
        guard !delays.isEmpty else { return nil }
        let room = max(1, maxInFlight / 4)
        guard queue.count(ofClass: number, toService: service) >= room || deferredCount >= maxInFlight else {
            return nil
        }
        return gate.deferCall(service, queued: queue.count(toService: service), delays: delays, now: now)
    }

    /// Finds the push services that have to wait while others continue.
    mutating func findDeferred(now: MonotonicTime) {
        guard gate.isLimited || !deferred.isEmpty else { return }
        deferred = PushServiceSet()
        let recent = now.advanced(by: -Self.recentTime)
        for service in queue.services {
            guard gate.isLimited(service) else { continue }
            let othersGoOn = gate.services.indices.contains { other in
                other != service && gate.services[other].lastUse > recent
                    && queue.count(toService: other) < maxInFlight / 8
            }
            if othersGoOn { deferred.insert(service) }
        }
    }
}
