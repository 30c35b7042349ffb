public import HeraldEvents
import HeraldKernel
public import HeraldTime

extension Engine {
    /// Does everything that has become possible: events that are first of their user want their calls, and calls start
    /// within the limit.
    ///
    /// It is a loop and not a recursion, because one input can free a long chain of one user's events.
    mutating func run(now: Moment) {
        repeat {
            while let id = activations.popFirst() {
                if events.isCurrent(id) { activate(id.index, now: now) }
            }
            probeHolds(now: now)
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

    /// The reason of a hop; that of a retry keeps its record's reason.
    func hopReason(_ slot: Int32) -> RetryReason? { events[slot].isRetry ? nil : .notBefore }

    /// Queues a call for its turn.
    mutating func want(_ slot: Int32, _ service: Int, now: Moment) {
        let index = events.place(slot, service)
        guard case .assigned = membership else {
            events.giveBack(index)
            return
        }
        if stopsForCampaign(slot, service, now: now) || waitsForHold(slot, service, now: now)
            || defers(slot, service, now: now)
        {
            return
        }
        events.want(index)
        dispatcher.queue.append(events.token(slot, service), toClass: callClass(of: slot))
        noteCandidate(slot, service)
    }

    /// Starts a wanted call.
    ///
    /// False when it is no longer wanted: its event has expired meanwhile, or its user's last word is against it.
    mutating func start(_ token: CallToken, now: Moment) -> Bool {
        let slot = token.slot.index
        let index = events.place(slot, Int(token.service))
        guard events.isCurrent(token.slot), events.services[index].phase == .wanted else { return false }
        if events.isExpired(slot, now: now) {
            decide(slot, Int(token.service), .expired, now: now)
            return false
        }
        guard case .begins(let preferencesOffset) = lookUpLastWord(slot, Int(token.service), now: now) else {
            return false
        }
        let mayHang = calls.hangInNumber && mayHang(slot, index, now: now)
        if mayHang, postpones(slot, Int(token.service), now: now) { return false }
        events.notePreferences(slot, Int(token.service), before: preferencesOffset)
        events.beginCall(token, sequence: calls.begin(token, now: now.monotonic), now: now.wall)
        if caps.isOn { noteCapCall(slot) }
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

    /// Takes the result of a call.
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
        counters.count(CallEnd(result), service: service)
        events.endCall(token, result)
        if caps.isOn { noteCapAnswer(slot, isDelivered: result.verdict == .delivered, now: now) }
        let isProbe = health.isProbe(token)
        if isProbe { judgeProbe(slot, service, result, now: now) }
        let isHoldProbe = health.holds.isProbe(token)
        if isHoldProbe { judgeHoldProbe(slot, service, result, now: now) }
        learn(slot, service, result, now: now)
        if result.verdict.showsAcceptance {
            credentials.noteAccepted(by: events.services[index].sequence, service)
            if credentials.suspectServices.contains(service) { clearSuspects(now: now) }
        }
        if health.waits(for: result, isProbe: isProbe), !isLost(result) {
            want(slot, service, now: now)
        } else if health.holds.held.contains(service), !isLost(result),
            health.holds[service]?.waits(for: result, isProbe: isHoldProbe) == true
        {
            if result.verdict == .credentials { events.noteRefused(index, at: calls.sequence) }
            if !waitsForHold(slot, service, isProbe: isHoldProbe, now: now) { want(slot, service, now: now) }
        } else {
            settle(slot, service, result, now: now, entropy: entropy)
        }
        if !health.holds.held.isEmpty, events.isCurrent(token.slot) { deferBesideOutcome(slot, now: now) }

        if case .stopping = membership, events.isCurrent(token.slot), events[slot].phase == .active,
            events[slot].callsOut == 0
        {
            settleForStop(slot, now: now)
        }
        advanceStop(now: now)
        run(now: now)
    }

    /// Settles the push service of the event by the answer.
    private mutating func settle(
        _ slot: Int32, _ service: Int, _ result: CallResult, now: Moment, entropy: UInt64
    ) {
        let index = events.place(slot, service)
        switch result.verdict {
        case .delivered:
            events.countAttempt(index)
            decide(slot, service, .delivered, now: now)
        case .rejected: reject(slot, service, result, now: now)
        case .unanswered where isLost(result):
            countFailure(slot, service, result, now: now)
            decide(slot, service, .dead(.unanswered), now: now)
        case .transient, .throttled, .unanswered: retry(slot, service, result, now: now, entropy: entropy)
        case .credentials: refused(slot, service, result, now: now)
        case .oversized: decide(slot, service, .dead(.oversized), now: now)
        case .outage(let reason):
            beginOutage(reason, status: result.status, now: now)
            want(slot, service, now: now)
        }
    }

    /// Whether a call without an answer may have arrived and must not be repeated.
    private func isLost(_ result: borrowing CallResult) -> Bool {
        !configuration.repeatsUnanswered && result.verdict == .unanswered(mayHaveArrived: true)
    }

    /// Learns about the backend from the answer: its limits, and faults in it or in the settings.
    private mutating func learn(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        let state = events.services[events.place(slot, service)]
        var call = AnsweredCall(
            sequence: state.sequence, user: events[slot].userHash, sentAt: began(result, now),
            isRetry: state.attempts > 0)
        switch result.verdict {
        case .throttled:
            health.throttled()
            call.isRefused = true
            call.retryAfter = result.retryAfter
            dispatcher.gate.answered(service, call, now: now.monotonic)
        case .transient, .unanswered:
            if health.failed(at: placeOfEvidence(slot, service), user: events[slot].userHash, now: now) {
                beginOutage(.breaker, status: result.status, now: now)
            }
        case .delivered, .rejected:
            dispatcher.gate.answered(service, call, now: now.monotonic)
            let source = result.verdict == .delivered ? sourceOfEvidence(slot, service) : nil
            health.passed(at: placeOfEvidence(slot, service), deliveredOf: source, now: now)
            guard source != nil else { break }
            campaigns.passed(events[slot].campaign, now: now.monotonic)
            health.holds.delivered(state.sequence, by: service, sender: senderHash(of: slot), now: now.monotonic)
        case .credentials, .outage, .oversized: break
        }
    }

    /// The time at which a call began.
    private func began(_ result: CallResult, _ now: Moment) -> MonotonicTime {
        // Its duration is rounded down. A beginning that is too late would count the rest of a burst against the limit
        // that its own beginning led to.
        now.monotonic.advanced(by: -result.duration - .milliseconds(1))
    }

    /// Rejects a call that the backend will never accept.
    mutating func reject(_ slot: Int32, _ service: Int, _ result: CallResult, now: Moment) {
        if trips(slot, service, result.status, now: now) {
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

    /// Applies the retry policy to a temporary failure.
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
            // Without retry topics the call is given back, and the next owner repeats it.
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
                && !(result.verdict == .throttled && dispatcher.gate.isLimited(service))
                && !(result.failure == .timeout && calls.hangInNumber),
            entropy: entropy)
        switch decision {
        case .quick(let wait):
            events.rest(index)
            schedule(.quickRetry(events.token(slot, service)), after: wait, now: now)
        case .delayed(let wait):
            let reason: RetryReason = result.retryAfter != nil || result.verdict == .throttled ? .throttled : .transient
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
