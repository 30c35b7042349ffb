import HeraldEvents
import HeraldKernel
public import HeraldTime

extension Engine {
    /// Does what has become possible: events that are first of their user want their calls, and calls start as far as
    /// the limit allows.
    ///
    /// A loop and not a recursion, because one input can free a long chain of one user's events.
    mutating func run(now: Moment) {
        repeat {
            while let id = activations.popFirst() {
                if events.isCurrent(id) { activate(id.index, now: now) }
            }
            startCalls(now: now)
        } while !activations.isEmpty
    }

    private mutating func activate(_ slot: Int32, now: Moment) {
        events.activate(slot, now: now.monotonic)
        if endsAsDuplicate(slot, now: now) { return }
        if events.isExpired(slot, now: now) {
            decideAll(slot, .expired, now: now)
            return
        }
        switch waitBefore(slot, now: now) {
        case .nothing:
            for service in events[slot].open { want(slot, service, now: now) }
        case .hop(let delay, let due):
            decideAll(slot, .retry(delay: delay, due: due, reason: hopReason(slot)), now: now)
        case .inMemory(let due):
            wait(slot, until: due, now: now)
        }
    }

    /// A hop of a retry keeps the reason that it came with.
    func hopReason(_ slot: Int32) -> RetryReason? { events[slot].isRetry ? nil : .notBefore }

    /// Has a call begin when its turn comes.
    mutating func want(_ slot: Int32, _ service: Int, now: Moment) {
        let index = events.place(slot, service)
        guard case .assigned = membership else {
            events.giveBack(index)
            return
        }
        if stopsForCampaign(slot, service, now: now) || defers(slot, service, now: now) { return }
        events.want(index)
        dispatcher.want(events.token(slot, service), ofClass: callClass(of: slot))
        noteCandidate(slot, service)
    }

    /// Starts a wanted call.
    ///
    /// False when it is not wanted any more, or its event has expired meanwhile.
    mutating func start(_ token: CallToken, now: Moment) -> Bool {
        let slot = token.slot.index
        let index = events.place(slot, Int(token.service))
        guard events.isCurrent(token.slot), events.services[index].phase == .wanted else { return false }
        if events.isExpired(slot, now: now) {
            decide(slot, Int(token.service), .expired, now: now)
            return false
        }
        let mayHang = calls.hangInNumber && mayHang(slot, index, now: now)
        if mayHang, postpones(slot, Int(token.service), now: now) { return false }
        events.beginCall(token, sequence: calls.begin(token, now: now.monotonic), now: now.wall)
        if mayHang {
            events.noteSuspect(index)
            calls.noteSuspect()
        }
        calls.findHanging(in: &events, now: now.monotonic)
        counters.calls += 1
        refusals.noteCall(now: now.monotonic)
        actions.append(.call(token))
        return true
    }

    /// A call ended.
    ///
    /// - Parameter entropy: 64 random bits, for the jitter of a quick retry.
    public mutating func answer(_ token: CallToken, _ result: CallResult, now: Moment, entropy: UInt64) {
        let slot = token.slot.index
        let service = Int(token.service)
        guard events.isCurrent(token.slot), service < events.width else {
            counters.stale += 1
            return
        }
        let index = events.place(slot, service)
        guard events.services[index].phase == .calling else {
            counters.stale += 1
            return
        }
        calls.end(
            events.services[index].sequence, result, wasHanging: events.services[index].isHanging,
            wasSuspect: events.services[index].isSuspect, now: now.monotonic)
        noteHanging(slot, result, now: now)
        counters.count(CallEnd(result, configuration.live.statuses), service: service)
        events.endCall(token, result)
        let meaning = CallMeaning(
            result, configuration.live.statuses, repeatsUnanswered: configuration.repeatsUnanswered)
        let isProbe = health.isProbe(token)
        if isProbe { judgeProbe(slot, meaning, status: result.status, now: now) }
        learn(slot, service, meaning, result, now: now)
        if meaning.showsAcceptance {
            credentials.noteAccepted(by: events.services[index].sequence)
            if !credentials.suspects.isEmpty { clearSuspects(now: now) }
        }
        if health.waits(for: meaning, status: result.status, isProbe: isProbe) {
            want(slot, service, now: now)
        } else {
            settle(slot, service, meaning, result, now: now, entropy: entropy)
        }

        if case .stopping = membership, events.isCurrent(token.slot), events[slot].phase == .active,
            events[slot].callsOut == 0
        {
            settleForStop(slot, now: now)
        }
        advanceStop(now: now)
        run(now: now)
    }

    /// What the answer says of the event's push service.
    private mutating func settle(
        _ slot: Int32, _ service: Int, _ meaning: CallMeaning, _ result: CallResult, now: Moment, entropy: UInt64
    ) {
        let index = events.place(slot, service)
        switch meaning {
        case .answered(.delivered):
            events.countAttempt(index)
            decide(slot, service, .delivered, now: now)
        case .answered(.rejected): reject(slot, service, result, now: now)
        case .answered(.transient), .failedForNow: retry(slot, service, result, now: now, entropy: entropy)
        case .answered(.credentials): refused(slot, service, result, now: now)
        case .unanswered:
            countFailure(slot, service, result, now: now)
            decide(slot, service, .dead(.unanswered), now: now)
        case .oversized: decide(slot, service, .dead(.oversized), now: now)
        case .unreachable(let reason):
            beginOutage(reason, now: now)
            want(slot, service, now: now)
        }
    }

    /// What the answer says of the backend: how much it bears, and whether something is wrong with it or the settings.
    private mutating func learn(
        _ slot: Int32, _ service: Int, _ meaning: CallMeaning, _ result: CallResult, now: Moment
    ) {
        let state = events.services[events.place(slot, service)]
        var call = AnsweredCall(
            sequence: state.sequence, user: events[slot].userHash, sentAt: began(result, now),
            isRetry: state.attempts > 0)
        switch meaning {
        case .answered(.transient) where result.isThrottled:
            health.throttled()
            call.isRefused = true
            call.retryAfter = result.retryAfter
            dispatcher.answered(service, call, now: now.monotonic)
        case .answered(.transient), .failedForNow, .unanswered:
            if health.failed(at: placeOfEvidence(slot, service), user: events[slot].userHash, now: now) {
                beginOutage(.breaker, status: result.status, now: now)
            }
        case .answered(.delivered), .answered(.rejected):
            dispatcher.answered(service, call, now: now.monotonic)
            let source = meaning == .answered(.delivered) ? sourceOfEvidence(slot) : nil
            health.passed(at: placeOfEvidence(slot, service), deliveredOf: source, now: now)
            if source != nil { campaigns.passed(events[slot].campaign, now: now.monotonic) }
        case .answered(.credentials), .unreachable, .oversized: break
        }
    }

    /// When a call began.
    private func began(_ result: CallResult, _ now: Moment) -> MonotonicTime {
        // Its duration is rounded down. Taken for later than it was, the rest of a burst would count against the limit
        // that its beginning has led to.
        now.monotonic.advanced(by: -result.duration - .milliseconds(1))
    }

    /// The backend does not want this call, now or ever.
    mutating func reject(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        if trips(slot, result.status, now: now) {
            want(slot, service, now: now)
            return
        }
        countFailure(slot, service, result, now: now)
        decide(slot, service, .dead(.rejected), now: now)
    }

    mutating func countFailure(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let began = now.wall.advanced(by: -result.duration)
        events.countFailure(slot, FailedAttempt(at: began, service: UInt8(service), result: result))
    }

    /// Lets the retry policy decide what follows a call that failed for now.
    private mutating func retry(
        _ slot: Int32, _ service: Int, _ result: CallResult, now: Moment, entropy: UInt64
    ) {
        let index = events.place(slot, service)
        countFailure(slot, service, result, now: now)
        if campaigns.fate(of: events[slot].campaign) == .cancelled {
            decide(slot, service, .cancelled, now: now)
            return
        }
        if membership != .assigned, configuration.retry.delays.isEmpty {
            // Nowhere to go but memory: given back, and called again by the next owner.
            events.giveBack(index)
            return
        }
        let failure = RetryPolicy.Failure(
            attempts: events.services[index].attempts, isFirstStay: !events[slot].isRetry,
            retryAfter: result.retryAfter,
            firstAttemptAt: events[slot].firstAttemptAt ?? now.wall,
            expiresAt: events[slot].event.expiresAt)
        let decision = configuration.retry.decide(
            failure, now: now.wall,
            quickAllowed: membership == .assigned && !events[slot].isBlocking && health.allowsQuickRetry
                && !(result.isThrottled && dispatcher.gate.isLimited(service))
                && !(result.failure == .timeout && calls.hangInNumber),
            entropy: entropy)
        switch decision {
        case .quick(let wait):
            events.rest(index)
            schedule(.quickRetry(events.token(slot, service)), after: wait, now: now)
        case .delayed(let wait):
            let reason: RetryReason = result.retryAfter != nil || result.isThrottled ? .throttled : .transient
            let due = now.wall.advanced(by: wait)
            decide(
                slot, service, .retry(delay: configuration.retry.hop(for: wait) ?? 0, due: due, reason: reason),
                now: now)
        case .attemptsExhausted: decide(slot, service, .dead(.attemptsExhausted), now: now)
        case .timeExhausted: decide(slot, service, .dead(.timeExhausted), now: now)
        case .expired: decide(slot, service, .expired, now: now)
        }
    }
}

extension CallResult {
    /// The backend can't take more, of this event or of all: to ask again at once would only be refused again.
    fileprivate var isThrottled: Bool { status == 429 || status == 503 && retryAfter != nil || verdict == .throttled }

    /// How the call ended, for the metrics.
    func callEnd(_ statuses: borrowing StatusTable) -> CallEnd {
        if let verdict, !statuses.isChanged(status) {
            switch verdict {
            case .throttled: return .throttled
            case .oversized: return .oversized
            case .outage: break
            }
        }
        let meaning = statuses[status]
        return meaning == .transient && status == 429 ? .throttled : .answered(meaning)
    }

    /// Whether the backend refuses the credentials with this answer.
    package func refusesCredentials(_ statuses: borrowing StatusTable) -> Bool {
        failure == nil && CallMeaning(self, statuses, repeatsUnanswered: true) == .answered(.credentials)
    }
}
