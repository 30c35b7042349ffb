import HeraldEvents
import HeraldTime

/// The times at which each push service may be called: limits from the settings, learned limits, and pauses that it
/// requested.
struct CallGate: Sendable {
    struct Service: Sendable {
        /// The limit of the settings.
        var limit: RateLimiter?
        /// The learned limit.
        var rate = AdaptiveRate()
        /// The answers from which it is learned, in order.
        var order = AnswerOrder()
        /// The learned limit as a pace.
        var borne: RateLimiter?
        /// The end of the pause that the backend requested.
        var pausedUntil: MonotonicTime?
        /// The time of its latest call, by this engine or, as records show, by others.
        var lastUse = MonotonicTime.distantPast
        /// The return times of calls that were deferred because too many wait for this service.
        var deferrals: DeferralPlan?
    }

    private var total: RateLimiter?
    private(set) var services: [Service]
    /// The users whose latest call was refused, by push service.
    private var refusedUsers = RecentUsers(places: 8_192)
    /// Whether answers that are evidence about a rate are held.
    private var holdsAnswers = false
    /// The push services that are held: they are not open for anything but their probes.
    var closed = PushServiceSet()
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

    /// Replaces the limits of the settings; learned limits stay.
    mutating func use(total: Double?, limits: [Double?]) {
        self.total.use(perSecond: total)
        for (service, limit) in zip(services.indices, limits) { services[service].limit.use(perSecond: limit) }
        updateLimited()
    }

    /// The push services among `waiting` that may be called now; all of them when there is no limit and no hold.
    mutating func open(_ waiting: PushServiceSet, now: MonotonicTime) -> PushServiceSet {
        guard isLimited else { return closed.isEmpty ? .all : waiting.subtracting(closed) }
        if let total, total.opens > now { return PushServiceSet() }
        var open = PushServiceSet()
        for service in waiting.subtracting(closed) {
            if opening(of: service) <= now {
                open.insert(service)
            } else if let borne = services[service].borne, borne.opens > now {
                services[service].rate.reached()
            }
        }
        return open
    }

    /// The time at which the first of the push services among `waiting` may be called.
    func opens(_ waiting: PushServiceSet) -> MonotonicTime? {
        var earliest: MonotonicTime?
        for service in waiting {
            let moment = opening(of: service)
            earliest = min(earliest ?? moment, moment)
        }
        return earliest.map { moment in total.map { max($0.opens, moment) } ?? moment }
    }

    /// The reason why calls to a push service have to wait.
    enum Bar: Sendable {
        /// The backend requested a pause.
        case pause
        /// The settings' limit for this push service.
        case limit
        /// The learned limit.
        case learned
        /// The settings' limit for all.
        case total
    }

    /// The bar that holds calls to a push service longest, and its end; `nil` when it is open.
    func bar(to service: Int, now: MonotonicTime) -> (bar: Bar, opens: MonotonicTime)? {
        guard isLimited else { return nil }
        let own = opening(of: service)
        if let total, total.opens > now, total.opens > own { return (.total, total.opens) }
        guard own > now else { return nil }
        if services[service].pausedUntil == own { return (.pause, own) }
        return (services[service].limit?.opens == own ? .limit : .learned, own)
    }

    /// Notes that this push service is in use.
    mutating func noteUse(_ service: Int, now: MonotonicTime) { services[service].lastUse = now }

    /// The push services that were in use within the last ten seconds.
    func inUse(now: MonotonicTime) -> PushServiceSet {
        let recent = now.advanced(by: -DeadLetterBreaker.excuseTime)
        var inUse = PushServiceSet()
        for service in services.indices where services[service].lastUse > recent { inUse.insert(service) }
        return inUse
    }

    /// Counts a call.
    mutating func take(_ service: Int, now: MonotonicTime) {
        noteUse(service, now: now)
        guard isLimited else { return }
        total?.take(now: now)
        services[service].limit?.take(now: now)
        services[service].borne?.take(now: now)
    }

    /// Notes that a call was answered.
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

    /// Ends pauses, and lets learned limits grow with time and with answers that are held no longer.
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

    /// Whether this push service has a limit or a pause of its own that may make its calls wait.
    func isLimited(_ service: Int) -> Bool {
        services[service].limit != nil || services[service].borne != nil || services[service].pausedUntil != nil
    }

    /// The index of the delay by which a call is deferred because too many wait for its push service.
    ///
    /// - Parameters:
    ///   - queued: the number of its calls that wait in memory.
    ///   - delays: the delays, rising; at least one.
    mutating func deferCall(_ service: Int, queued: Int, delays: [Milliseconds], now: MonotonicTime) -> Int {
        let borne = (services[service].borne?.interval ?? 0) / DeferralPlan.marginOfLearnedRate
        let interval = max(services[service].limit?.interval ?? 0, borne)
        let opens = opening(of: service)
        if services[service].deferrals == nil { services[service].deferrals = DeferralPlan(delays: delays) }
        return services[service].deferrals?.deferCall(queued: queued, interval: interval, opens: opens, now: now) ?? 0
    }

    /// Forgets the deferrals, because other partitions come: deferred calls return elsewhere.
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
    /// Replaces the limit, or removes it; earlier calls still count.
    fileprivate mutating func use(perSecond rate: Double?) {
        guard let rate else {
            self = nil
            return
        }
        if self == nil { self = RateLimiter(perSecond: rate) } else { self?.replace(perSecond: rate) }
    }
}

extension PushServiceSet {
    /// All possible push services.
    static let all = PushServiceSet(rawValue: .max)
}
