import HeraldEvents
import HeraldTime

/// When each push service may be called: limits from the settings, what the backend was found to bear, and pauses that it
/// asked for.
struct CallGate: Sendable {
    struct Service: Sendable {
        /// The limit of the settings.
        var limit: RateLimiter?
        /// What the backend was found to bear.
        var rate = AdaptiveRate()
        /// What that is found by.
        var order = AnswerOrder()
        /// The same as a pace.
        var borne: RateLimiter?
        /// The backend asked for quiet until then.
        var pausedUntil: MonotonicTime?
        /// When it was called last, by this engine or as far as records say that others have dealt with.
        var lastUse = MonotonicTime.distantPast
        /// When calls come back that were deferred because too many wait for this service.
        var deferrals: DeferralPlan?
    }

    private var total: RateLimiter?
    private(set) var services: [Service]
    private var refusedUsers = RefusedUsers()
    /// Whether answers are held that say something about a rate.
    private var holdsAnswers = false
    /// Whether any call may have to wait.
    private(set) var isLimited = false

    /// - Parameters:
    ///   - total: calls a second over all push services.
    ///   - limits: calls a second to each push service.
    init(total: Double?, limits: [Double?]) {
        self.total = total.map { RateLimiter(perSecond: $0) }
        services = limits.map { limit in Service(limit: limit.map { RateLimiter(perSecond: $0) }) }
        updateLimited()
    }

    /// Other limits of the settings from now on; what the backend was found to bear stays.
    mutating func use(total: Double?, limits: [Double?]) {
        self.total.use(perSecond: total)
        for (service, limit) in zip(services.indices, limits) { services[service].limit.use(perSecond: limit) }
        updateLimited()
    }

    /// The push services among `waiting` that may be called now; all of them when there is no limit.
    mutating func open(_ waiting: PushServiceSet, now: MonotonicTime) -> PushServiceSet {
        guard isLimited else { return .all }
        if let total, total.opens > now { return PushServiceSet() }
        var open = PushServiceSet()
        for service in waiting {
            if opening(of: service) <= now {
                open.insert(service)
            } else if let borne = services[service].borne, borne.opens > now {
                services[service].rate.reached()
            }
        }
        return open
    }

    /// When the first of the push services among `waiting` may be called.
    func opens(_ waiting: PushServiceSet) -> MonotonicTime? {
        var earliest: MonotonicTime?
        for service in waiting {
            let moment = opening(of: service)
            earliest = min(earliest ?? moment, moment)
        }
        return earliest.map { moment in total.map { max($0.opens, moment) } ?? moment }
    }

    /// Why calls to a push service have to wait.
    enum Bar: Sendable {
        /// The backend asked for quiet.
        case pause
        /// The settings' limit for this push service.
        case limit
        /// What the backend was found to bear.
        case learned
        /// The settings' limit for all.
        case total
    }

    /// What holds calls to a push service longest, and until when; `nil` when it is open.
    func bar(to service: Int, now: MonotonicTime) -> (bar: Bar, opens: MonotonicTime)? {
        guard isLimited else { return nil }
        let own = opening(of: service)
        if let total, total.opens > now, total.opens > own { return (.total, total.opens) }
        guard own > now else { return nil }
        if services[service].pausedUntil == own { return (.pause, own) }
        return (services[service].limit?.opens == own ? .limit : .learned, own)
    }

    /// Notes that this push service is one that is called.
    mutating func noteUse(_ service: Int, now: MonotonicTime) { services[service].lastUse = now }

    /// Counts a call.
    mutating func take(_ service: Int, now: MonotonicTime) {
        noteUse(service, now: now)
        guard isLimited else { return }
        total?.take(now: now)
        services[service].limit?.take(now: now)
        services[service].borne?.take(now: now)
    }

    /// A call was answered.
    mutating func answered(_ service: Int, _ call: AnsweredCall, now: MonotonicTime) {
        if services[service].order.add(call, now: now) {
            judge(service, call, now: now)
        } else {
            judgeHeld(service, now: now)
        }
    }

    private mutating func judgeHeld(_ service: Int, now: MonotonicTime) {
        while let call = services[service].order.next(now: now) { judge(service, call, now: now) }
        holdsAnswers = services.contains { !$0.order.isEmpty }
    }

    private mutating func judge(_ service: Int, _ call: AnsweredCall, now: MonotonicTime) {
        let isKnown =
            !refusedUsers.isEmpty(now: now) && refusedUsers.contains(call.user, service: service, now: now)
        if call.isRefused {
            refusedUsers.note(call.user, service: service, now: now)
            let pause = services[service].rate.refusedCall(
                sentAt: call.sentAt, isRetry: call.isRetry, isKnown: isKnown, retryAfter: call.retryAfter, now: now)
            if pause > .zero {
                let until = now.advanced(by: pause)
                services[service].pausedUntil = max(services[service].pausedUntil ?? until, until)
            }
        } else {
            if isKnown { refusedUsers.forget(call.user, service: service) }
            guard
                services[service].rate.passed(
                    sentAt: call.sentAt, isRetry: call.isRetry, isKnown: isKnown, now: now)
            else { return }
        }
        follow(service)
        updateLimited()
    }

    /// Ends pauses, and lets what was learned grow with time and by answers that are held no longer.
    mutating func tick(now: MonotonicTime) {
        if holdsAnswers {
            for service in services.indices { judgeHeld(service, now: now) }
        }
        guard isLimited else { return }
        var changed = false
        for service in services.indices {
            if let until = services[service].pausedUntil, until <= now {
                services[service].pausedUntil = nil
                changed = true
            }
            if services[service].rate.grow(now: now) {
                follow(service)
                changed = true
            }
        }
        if changed { updateLimited() }
    }

    /// Whether calls to this push service may have to wait for its own sake: for a limit, or because it is paused.
    func isLimited(_ service: Int) -> Bool {
        services[service].limit != nil || services[service].borne != nil || services[service].pausedUntil != nil
    }

    /// The index of the delay by which a call is deferred because too many wait for its push service.
    ///
    /// - Parameters:
    ///   - queued: how many calls to it wait in memory.
    ///   - delays: the delays, rising; at least one.
    mutating func deferCall(_ service: Int, queued: Int, delays: [Milliseconds], now: MonotonicTime) -> Int {
        let borne = (services[service].borne?.interval ?? 0) / DeferralPlan.marginOfLearnedRate
        let interval = max(services[service].limit?.interval ?? 0, borne)
        let opens = opening(of: service)
        if services[service].deferrals == nil { services[service].deferrals = DeferralPlan(delays: delays) }
        return services[service].deferrals?.deferCall(queued: queued, interval: interval, opens: opens, now: now) ?? 0
    }

    /// Other partitions come: what was deferred comes back somewhere else.
    mutating func forgetDeferrals() {
        for service in services.indices { services[service].deferrals = nil }
    }

    private func opening(of service: Int) -> MonotonicTime {
        var moment = services[service].pausedUntil ?? MonotonicTime.distantPast
        if let limit = services[service].limit { moment = max(moment, limit.opens) }
        if let borne = services[service].borne { moment = max(moment, borne.opens) }
        return moment
    }

    private mutating func follow(_ service: Int) {
        guard let rate = services[service].rate.limit else {
            services[service].borne = nil
            return
        }
        if services[service].borne == nil {
            services[service].borne = RateLimiter(perSecond: rate)
        } else {
            services[service].borne?.change(perSecond: rate)
        }
    }

    private mutating func updateLimited() {
        isLimited =
            total != nil
            || services.contains { $0.limit != nil || $0.borne != nil || $0.pausedUntil != nil }
    }
}

extension RateLimiter? {
    /// Another limit, or none, from now on; the calls before still count.
    fileprivate mutating func use(perSecond rate: Double?) {
        guard let rate else {
            self = nil
            return
        }
        if self == nil { self = RateLimiter(perSecond: rate) } else { self?.replace(perSecond: rate) }
    }
}

extension PushServiceSet {
    /// Every push service there can be.
    static let all = PushServiceSet(rawValue: .max)
}
