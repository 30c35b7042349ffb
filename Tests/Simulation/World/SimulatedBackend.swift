import HeraldCore
import HeraldEvents
import HeraldTime

/// Chooses the backend's answers, by chance and by the weather of the moment.
struct SimulatedBackend {
    /// A fault that lasts for a while.
    enum Storm: String, CaseIterable, Sendable {
        case password, name, failures, path, capacity, quota, hub
    }

    /// Chances in thousandths.
    struct Weather {
        var transient = 60
        var throttled = 5
        var rejected = 15
        var timeout = 20
        var reset = 10
        /// Every call is refused with 401.
        var passwordIsWrong = false
        /// The name is not found.
        var isUnreachable = false
        /// The called path does not exist.
        var pathIsWrong = false
        /// The hub's quota of notifications is used up: 403.
        var quotaIsUsedUp = false
        /// The namespace has no such hub: 404.
        var hubIsMissing = false
        /// Calls that a hub refuses with 403, because of its rate limit.
        var throttledForbidden = 3
        /// Notifications that are too large for their push service, and are not sent.
        var oversized = 4
        /// The limit of calls a second, a tenth of them at once; others are refused with 429.
        var capacity: Int64?
        /// The wait that these refusals ask for.
        var capacityPause: Milliseconds?

        static let calm = Self(
            transient: 0, throttled: 0, rejected: 0, timeout: 0, reset: 0, throttledForbidden: 0, oversized: 0)
    }

    /// A push service that refuses every call for a while.
    struct Refusal: Sendable {
        var service: Int
        var status: Int
        /// The moments (milliseconds).
        var during: Range<Int64>
    }

    var weather = Weather()
    var refusals: [Refusal] = []
    /// These users are refused with 403 whatever the password.
    var forbidden: Set<Int> = []
    /// Every call for these users hangs until its deadline.
    var hanging: Set<Int> = []
    static let timeout: Int64 = 10_000
    /// What a target's answers declare.
    private static let quotaUsedUp = OutageReason.target(TargetOutage("quota", "no quota is left", step: "wait"))
    private static let hubNotFound = OutageReason.target(TargetOutage("no-hub", "there is no hub", step: "make one"))
    /// The next call's moment if calls came evenly, in microseconds.
    private var nextTaken: Int64 = 0

    /// The result of a call and its duration (milliseconds).
    mutating func answer(
        user: Int, service: Int, now: Int64, chance: inout Chance
    ) -> (result: CallResult, after: Int64) {
        let latency = chance.between(1, 80)
        if weather.isUnreachable { return (CallResult(failure: .nameNotFound), latency) }
        if let capacity = weather.capacity, !takes(capacity, now: now) {
            return (CallResult(status: 429, retryAfter: weather.capacityPause), latency)
        }
        if weather.quotaIsUsedUp {
            return (CallResult(status: 403, detail: "quota", read: .outage(Self.quotaUsedUp)), latency)
        }
        if weather.hubIsMissing {
            return (CallResult(status: 404, detail: "no hub", read: .outage(Self.hubNotFound)), latency)
        }
        if weather.passwordIsWrong {
            // Late ones come when the password is right again.
            return (CallResult(status: 401), chance.below(4) == 0 ? chance.between(80, 3_000) : latency)
        }
        if weather.pathIsWrong { return (CallResult(status: 404, detail: "no such path"), latency) }
        if let refusal = refusals.first(where: { $0.service == service && $0.during.contains(now) }) {
            return (CallResult(status: refusal.status), latency)
        }
        if forbidden.contains(user) { return (CallResult(status: 403), latency) }
        if hanging.contains(user) { return (CallResult(failure: .timeout, mayHaveArrived: true), Self.timeout) }
        var rest = chance.below(1_000)
        func hit(_ share: Int) -> Bool {
            defer { rest -= share }
            return rest >= 0 && rest < share
        }
        if hit(weather.transient) { return (CallResult(status: 503, detail: "busy"), latency) }
        if hit(weather.throttled) { return (CallResult(status: 429, retryAfter: .seconds(7)), latency) }
        if hit(weather.throttledForbidden) {
            return (CallResult(status: 403, retryAfter: .seconds(7), detail: "throttled", read: .throttled), latency)
        }
        if hit(weather.oversized) { return (CallResult(oversized: "too large"), 0) }
        if hit(weather.rejected) { return (CallResult(status: 400, detail: "bad"), latency) }
        let hasArrived = chance.below(2) == 0
        if hit(weather.timeout) { return (CallResult(failure: .timeout, mayHaveArrived: hasArrived), Self.timeout) }
        if hit(weather.reset) { return (CallResult(failure: .reset, mayHaveArrived: hasArrived), latency) }
        return (CallResult(status: 200), latency)
    }

    private mutating func takes(_ capacity: Int64, now: Int64) -> Bool {
        let now = now * 1_000
        guard nextTaken - 100_000 <= now else { return false }
        nextTaken = max(nextTaken, now) + 1_000_000 / capacity
        return true
    }
}
