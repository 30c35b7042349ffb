import HeraldEvents
import HeraldTime

extension Engine {
    /// Does what has become possible: events that are first of their user want their calls, and calls start as far as
    /// the limit allows.
    ///
    /// A loop and not a recursion, because one input can free a long chain of one user's events.
    mutating func run(now: Moment) {
        repeat {
            while let id = activations.popFirst() {
                if isCurrent(id) { activate(id.index, now: now) }
            }
            startCalls(now: now)
        } while !activations.isEmpty
    }

    private mutating func activate(_ slot: Int32, now: Moment) {
        let place = Int(slot)
        slots[place].phase = .active
        slots[place].activeSince = now.monotonic
        if isExpired(slot, now: now) {
            decideAll(slot, .expired, now: now)
            return
        }
        switch waitBefore(slot, now: now) {
        case .nothing:
            for service in slots[place].open { want(slot, service) }
        case .hop(let delay, let due):
            decideAll(slot, .retry(delay: delay, due: due, reason: hopReason(slot)), now: now)
        case .inMemory(let due):
            wait(slot, until: due, now: now)
        }
    }

    /// A hop of a retry keeps the reason that it came with.
    func hopReason(_ slot: Int32) -> RetryReason? { slots[Int(slot)].isRetry ? nil : .notBefore }

    mutating func want(_ slot: Int32, _ service: Int) {
        let index = serviceIndex(slot, service)
        guard case .assigned = membership else {
            services[index].phase = .idle
            return
        }
        services[index].phase = .wanted
        wanted.append(CallToken(slot: id(of: slot), service: UInt8(service)))
    }

    private mutating func startCalls(now: Moment) {
        guard hold == nil, case .assigned = membership else { return }
        while callsInFlight < configuration.maxInFlight, let token = wanted.popFirst() {
            _ = start(token, now: now)
        }
    }

    /// Starts a wanted call.
    ///
    /// False when it is not wanted any more, or its event has expired meanwhile.
    mutating func start(_ token: CallToken, now: Moment) -> Bool {
        let slot = token.slot.index
        let index = serviceIndex(slot, Int(token.service))
        guard isCurrent(token.slot), services[index].phase == .wanted else { return false }
        if isExpired(slot, now: now) {
            decide(slot, Int(token.service), .expired, now: now)
            return false
        }
        sequence += 1
        services[index].phase = .calling
        services[index].sequence = sequence
        if slots[Int(slot)].firstAttemptAt == nil { slots[Int(slot)].firstAttemptAt = now.wall }
        slots[Int(slot)].callsOut += 1
        callsInFlight += 1
        counters.calls += 1
        actions.append(.call(token))
        return true
    }

    /// What a result means.
    enum Meaning: Equatable {
        case answered(AnswerClass)
        case failedForNow
        case unreachable(HoldReason)
    }

    func meaning(_ result: CallResult) -> Meaning {
        switch result.failure {
        case nil: .answered(configuration.statuses[result.status])
        case .tls: .unreachable(.tls)
        case .nameNotFound: .unreachable(.nameNotFound)
        case .refused, .reset, .timeout, .brokenHTTP: .failedForNow
        }
    }

    /// A call ended.
    ///
    /// - Parameter entropy: 64 random bits, for the jitter of a quick retry.
    public mutating func answer(_ token: CallToken, _ result: CallResult, now: Moment, entropy: UInt64) {
        let slot = token.slot.index
        let service = Int(token.service)
        guard isCurrent(token.slot), service < width else {
            counters.stale += 1
            return
        }
        let index = serviceIndex(slot, service)
        guard services[index].phase == .calling else {
            counters.stale += 1
            return
        }
        callsInFlight -= 1
        slots[Int(slot)].callsOut -= 1
        if result.status != 0 { services[index].status = result.status }
        services[index].detail = result.detail ?? result.failure?.word
        let meaning = meaning(result)
        let isProbe = hold?.probe == token
        if isProbe { judgeProbe(meaning, now: now) }

        switch meaning {
        case .answered(.delivered):
            accepted(index)
            services[index].attempts += 1
            decide(slot, service, .delivered, now: now)
        case .answered(.rejected):
            accepted(index)
            countFailure(slot, service, result, now: now)
            decide(slot, service, .dead(.rejected), now: now)
        case .answered(.transient):
            accepted(index)
            retry(slot, service, result, now: now, entropy: entropy)
        case .answered(.credentials):
            refused(slot, service, result, now: now)
        case .failedForNow:
            // A probe counts as no attempt.
            if isProbe { want(slot, service) } else { retry(slot, service, result, now: now, entropy: entropy) }
        case .unreachable(let reason):
            beginHold(reason, now: now)
            want(slot, service)
        }

        if case .stopping = membership {
            if isCurrent(token.slot), slots[Int(slot)].phase == .active, slots[Int(slot)].callsOut == 0 {
                settleForStop(slot, now: now)
            }
            finishStopping(now: now)
        }
        run(now: now)
    }

    private mutating func accepted(_ index: Int) {
        acceptedSequence = max(acceptedSequence, services[index].sequence)
    }

    private mutating func countFailure(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        services[serviceIndex(slot, service)].attempts += 1
        let began = now.wall.advanced(byMilliseconds: -Int64(result.durationMilliseconds))
        slots[Int(slot)].failures.append(FailedAttempt(at: began, service: UInt8(service), result: result))
    }

    /// Lets the retry policy decide what follows a call that failed for now.
    private mutating func retry(
        _ slot: Int32, _ service: Int, _ result: CallResult, now: Moment, entropy: UInt64
    ) {
        let index = serviceIndex(slot, service)
        countFailure(slot, service, result, now: now)
        if membership != .assigned, configuration.retry.delays.isEmpty {
            // Nowhere to go but memory: given back, and called again by the next owner.
            services[index].phase = .idle
            return
        }
        let failure = RetryPolicy.Failure(
            attempts: services[index].attempts, isFirstStay: !slots[Int(slot)].isRetry, retryAfter: result.retryAfter,
            firstAttemptAt: slots[Int(slot)].firstAttemptAt ?? now.wall,
            expiresAt: slots[Int(slot)].event.expiresAt)
        let decision = configuration.retry.decide(
            failure, now: now.wall, quickAllowed: membership == .assigned && !slots[Int(slot)].isBlocking,
            entropy: entropy)
        switch decision {
        case .quick(let wait):
            services[index].phase = .resting
            due.add(
                .init(
                    due: now.monotonic.advanced(byMilliseconds: wait), slot: id(of: slot), service: UInt8(service),
                    purpose: .quickRetry))
        case .delayed(let wait):
            let reason: RetryReason = result.retryAfter != nil || result.status == 429 ? .throttled : .transient
            let due = now.wall.advanced(byMilliseconds: wait)
            decide(
                slot, service, .retry(delay: configuration.retry.hop(for: wait) ?? 0, due: due, reason: reason),
                now: now)
        case .attemptsExhausted: decide(slot, service, .dead(.attemptsExhausted), now: now)
        case .timeExhausted: decide(slot, service, .dead(.timeExhausted), now: now)
        case .expired: decide(slot, service, .expired, now: now)
        }
    }

    /// 401 or 403.
    ///
    /// Once may be chance: the call is made again. Refused again, it is this event's own fault if a call that was sent
    /// after its first refusal was accepted; else it is the credentials, and everything waits.
    ///
    /// Only calls *sent* later count, because answers to calls sent before a password was changed still come in.
    private mutating func refused(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let index = serviceIndex(slot, service)
        let before = services[index].refusedAt
        if before != 0 && acceptedSequence > before {
            countFailure(slot, service, result, now: now)
            decide(slot, service, .dead(.rejected), now: now)
            return
        }
        services[index].refusedAt = sequence
        if before != 0 { beginHold(.credentials, now: now) }
        want(slot, service)
    }

    private mutating func beginHold(_ reason: HoldReason, now: Moment) {
        guard case .assigned = membership, hold == nil else { return }
        hold = Hold(reason: reason, now: now.monotonic)
        actions.append(.notice(.holdBegan(reason)))
    }

    private mutating func endHold(now: Moment) {
        guard let hold else { return }
        self.hold = nil
        actions.append(.notice(.holdEnded(hold.reason)))
        // Who waited for the backend's end of the hold was not held up by another event.
        for index in slots.indices where slots[index].phase == .active { slots[index].activeSince = now.monotonic }
    }

    /// A hold ends when its probe is answered with any status but a refusal; no answer at all proves nothing.
    private mutating func judgeProbe(_ meaning: Meaning, now: Moment) {
        switch meaning {
        case .answered(.credentials):
            hold?.reason = .credentials
            hold?.probeFailed(now: now.monotonic)
        case .unreachable(let reason):
            hold?.reason = reason
            hold?.probeFailed(now: now.monotonic)
        case .failedForNow:
            hold?.probeFailed(now: now.monotonic)
        case .answered(.delivered), .answered(.rejected), .answered(.transient):
            endHold(now: now)
        }
    }

    /// The credentials were changed: a hold because of them probes at once.
    public mutating func credentialsChanged(now: Moment) {
        guard hold?.reason == .credentials else { return }
        hold?.probeSoon(now: now.monotonic)
        probe(now: now)
        run(now: now)
    }

    /// During a hold: starts the next probe when its time has come.
    mutating func probe(now: Moment) {
        guard let held = hold, held.probe == nil, now.monotonic >= held.nextProbe else { return }
        while let token = wanted.popFirst() {
            if start(token, now: now) {
                hold?.probe = token
                return
            }
        }
    }
}
