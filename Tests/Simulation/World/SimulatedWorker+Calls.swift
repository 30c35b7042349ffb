import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime
import HeraldWorker

/// Calls of the backend.
extension SimulatedWorker {
    func call(
        _ token: CallToken, now: Moment, event: borrowing DecodedEvent, value: RawSpan, traceparent: [UInt8]
    ) {
        let user = event.bytes(of: event.user, value: value)
        if isStopping { simulation.checkers.fail("\(process): a call after the stop began") }
        guard let retained = record(in: token.slot) else {
            simulation.checkers.fail("\(process): a call for a slot without a record")
            return
        }
        let (name, record) = (retained.name, retained.record)
        if user.withUnsafeBytes({ !$0.elementsEqual(record.key ?? []) }) {
            simulation.checkers.fail("\(simulation.checkers.text(name)) was called for somebody else")
        }
        check(token, name, record)
        checkExposure()
        checkConcurrency()
        checkLimits(token)
        checkCampaign(name, record)
        checkPriority(token, name)
        checkPause(token)
        checkHold(token)
        var (result, after) = answer(token, record)
        // A call that is not sent needs no connection.
        if simulation.trouble == nil, result.failure != .nameNotFound, result.verdict != .oversized {
            (result, after) = connections.carry(
                token, result, after: after, now: simulation.now, chance: &simulation.chance[.connection])
        }
        if result.status == 200, simulation.scenario.followers > 0 {
            result.detail = simulation.takenByHub(after: after)
        }
        let isRefused = result.status == 401 || result.status == 403 && result.verdict != .throttled
        let isCounted =
            !isRefused && !holds(result) && result.verdict != .oversized && result.failure != .nameNotFound
            && lane.engine.outage == nil
        if let duty = duty(record, token) {
            log("calls \(simulation.checkers.text(duty)) of user \(record.user), to be answered \(text(result))")
            checkLastWord(duty, Int(token.service))
            simulation.checkers.called(duty, countsAsAttempt: isCounted, hasLost: isZombie, now: simulation.now)
            simulation.checkers.backendAnswered(duty, result, holds: holds(result), now: simulation.now)
        } else {
            simulation.checkers.fail("\(simulation.checkers.text(name)) is not for service \(token.service)")
        }
        if isCounted { counted.insert(token) }
        sentAt[token] = simulation.now
        simulation.schedule(.news(process, .answer(token, result)), after: after)
    }

    /// Judges later answers by these settings.
    func use(_ settings: LaneSettings) { statuses = settings.engine.statuses }

    func renewCredentials() {
        log("renews the credentials")
        simulation.schedule(.news(process, .credentialsRenewed), after: simulation.chance[.credentials].between(0, 400))
    }

    private func answer(_ token: CallToken, _ record: LogRecord) -> (result: CallResult, after: Int64) {
        guard let trouble = simulation.trouble else {
            var chance = Chance(seed: simulation.chance[.backend].bits())
            return simulation.backend.answer(
                user: record.user, service: Int(token.service), now: simulation.now, chance: &chance)
        }
        let calls = duty(record, token).map { simulation.checkers.duties[$0].calls } ?? 0
        return trouble.answer(user: record.user, event: record.event, service: Int(token.service), attempt: calls)
    }

    /// No call begins while settled events have waited for their commit for too long, nor from a worker that stood
    /// still and may have lost its partitions meanwhile.
    private func checkExposure() {
        if hasStoodStill {
            simulation.checkers.fail("promise 3: \(process) stood still, has lost its partitions, and calls")
        }
        if let last = heldCall, lane.engine.refusingTopic != nil {
            if simulation.now - last < 1_000 {
                simulation.checkers.fail("promise 3: \(process) calls while a topic takes no outcomes")
            }
            heldCall = simulation.now
        }
        guard simulation.scenario.isAtomic else { return }
        let isHolding = lane.engine.refusingTopic != nil
        unrecordedSince = unrecordedSince.filter { id, _ in
            // Events that wait for a refusing topic do not delay a trial call.
            lane.engine.isDecided(id) && !(isHolding && record(in: id).map { apart[$0.name] != nil } ?? false)
        }
        let age = unrecordedSince.values.min().map { simulation.now - $0 } ?? 0
        if .milliseconds(age) >= configuration.maxUnrecorded {
            simulation.checkers.fail("promise 3: \(process) calls while others are not recorded for \(age) ms")
        }
    }

    private func noteExposure(_ token: CallToken) {
        guard lane.engine.isDecided(token.slot), unrecordedSince[token.slot] == nil,
            let record = record(in: token.slot),
            // A record that does not fit may be left out of the others' transactions, and is no more than one event.
            record.record.size == .usual
        else { return }
        unrecordedSince[token.slot] = simulation.now
    }

    private func text(_ result: CallResult) -> String { result.failure.map { "\($0)" } ?? "\(result.status)" }

    private func duty(_ record: LogRecord, _ token: CallToken) -> Int? {
        record.duties.first { simulation.checkers.duties[$0].service == Int(token.service) }
    }

    /// Checks that a call is neither too late nor too early, and in order.
    private func check(_ token: CallToken, _ name: RecordName, _ record: LogRecord) {
        let now = now.wall
        // Its clock may have stepped while the event waited.
        let latest = now.advanced(by: 2 * simulation.scenario.skew)
        let isRetry = lane.engine.withSlot(token.slot.index) { slot in
            let event = slot.event
            if let expiresAt = event.expiresAt, now >= expiresAt {
                simulation.checkers.fail("\(simulation.checkers.text(name)) was called after its expiry")
            }
            if let notBefore = event.notBefore, latest < notBefore {
                simulation.checkers.fail("\(simulation.checkers.text(name)) was called before its moment")
            }
            // What slept is called as soon as its user's words allow it, which is another checker's matter.
            if slot.isRetry, !event.isHeldForQuietHours, let due = event.dueAt, latest < due {
                simulation.checkers.fail("\(simulation.checkers.text(name)): a retry was early")
            }
            return slot.isRetry
        }
        callsOut[name, default: 0] += 1
        if !isRetry, let duty = duty(record, token), let partition = places.firstIndex(of: name.place) {
            let (left, begun) = (simulation.cluster[name.place].start, begunAt[partition])
            simulation.checkers.firstStay(duty, of: name, known: left..<max(left, begun))
        }
        guard let line = line(of: name) else { return }
        if passed.contains(name) {
            simulation.checkers.fail("promise 4: \(simulation.checkers.text(name)) is called again after a later event")
        }
        if let other = active.updateValue(name, forKey: line), other != name {
            passed.insert(other)
            if callsOut[other, default: 0] > 0 {
                simulation.checkers.fail(
                    "promise 4: \(simulation.checkers.text(name)) was called during a call of "
                        + simulation.checkers.text(other))
            }
        }
        if !isRetry, !isZombie { simulation.checkers.firstCall(user: record.user, of: name) }
    }

    /// Gives the lane the arrived answers, and compares its reactions with the truth.
    func answers(_ body: (CallToken, inout EndedCall) -> Void) {
        let answers = inbox.answers
        inbox.answers = []
        for (token, result) in answers {
            connections.release(token)
            let wasCounted = counted.contains(token)
            let duty = currentDuty(token)
            let before = duty.map { simulation.checkers.duties[$0] }
            let hold = lane.engine.holds.first { $0.isProbe(token) }
            let isProbe = probes.contains(token) || hold != nil
            let isCurrent = lane.engine.slot(token.slot.index).generation == token.slot.generation
            note(token, result)
            if isCurrent { noteCapped(token, result) }
            if isCurrent, result.status == 200 { answered.insert(token.slot) }
            var call = EndedCall(judged(result, by: statuses), at: now.monotonic)
            body(token, &call)
            if let hold, result.status == 200,
                lane.engine.holds.contains(where: { $0.service == hold.service && $0.since == hold.since })
            {
                simulation.checkers.fail("\(process) holds service \(hold.service), whose probe was delivered")
            }
            noteExposure(token)
            noteLimits(token, result, isCurrent: isCurrent)
            guard let duty, let before, waitsForOutage(result, token, isProbe: isProbe) else { continue }
            simulation.checkers.waits(duty, as: before, wasCounted: wasCounted)
        }
    }

    /// Whether an ended call has to wait for the end of the outage: it failed by the outage's cause, or was its probe
    /// and proved nothing.
    private func waitsForOutage(_ result: CallResult, _ token: CallToken, isProbe: Bool) -> Bool {
        let failedForNow =
            meaning(result) == .transient
            || [.timeout, .reset, .refused, .brokenHTTP].contains(result.failure) && !isUnanswered(result)
        // A push service that is held alone: its probe proved nothing, or its calls are rejected as before.
        if let status = heldStatus(token) {
            if meaning(result) == .rejected, result.status == status, !lane.engine.isRejected(token) { return true }
            if failedForNow, isProbe { return true }
        }
        return switch lane.engine.outage?.reason {
        case .breaker: failedForNow
        case .deadLetterBreaker:
            failedForNow && isProbe || meaning(result) == .rejected && result.status == lane.engine.outage?.status
        // While partitions are revoked there is no outage; rejections that trip the dead-letter breaker then are given
        // back.
        case nil:
            meaning(result) == .rejected && !lane.engine.isRejected(token) && !lane.engine.isConsuming
        default: false
        }
    }

    /// The status with which the call's push service refuses everybody, while it is held.
    private func heldStatus(_ token: CallToken) -> Int? {
        lane.engine.holds.first { $0.service == Int(token.service) }?.status
    }

    /// Whether an unanswered call may not be repeated.
    private func isUnanswered(_ result: CallResult) -> Bool {
        result.verdict == .unanswered(mayHaveArrived: true) && !configuration.repeatsUnanswered
    }

    /// The meaning of an answer by the current settings; `nil` without one, or when no user can be called.
    private func meaning(_ result: CallResult) -> AnswerClass? {
        switch judged(result, by: configuration.live.statuses).verdict {
        case .delivered: .delivered
        case .transient, .throttled: .transient
        case .credentials: .credentials
        case .rejected: .rejected
        case .outage, .oversized, .unanswered: nil
        }
    }

    /// The result with the answer's meaning by these statuses.
    func judged(_ result: CallResult, by statuses: StatusTable) -> CallResult {
        guard result.status != 0 else { return result }
        return CallResult(
            status: result.status, retryAfter: result.retryAfter, detail: result.detail, duration: result.duration,
            read: result.verdict, statuses: statuses)
    }

    /// Whether an answer means that no user can be called, by the current settings.
    private func holds(_ result: CallResult) -> Bool {
        result.status != 0 && meaning(result) == nil
    }

    // MARK: Limits

    /// No call begins beyond the limit of calls in flight.
    private func checkConcurrency() {
        let calls = lane.engine.load.calls
        guard calls > configuration.live.maxInFlight else { return }
        simulation.checkers.fail("\(process): a call begins, and \(calls) are in flight")
    }

    /// The calls a second stay within the limit.
    private func checkLimits(_ token: CallToken) {
        let now = simulation.now
        let service = Int(token.service)
        if lane.engine.outage == nil {
            limitedCalls.append((now, service))
            limitedCalls.removeAll { $0.at <= now - 1_000 }
            let limits =
                [(configuration.callsPerSecond, limitedCalls.count)]
                + configuration.serviceCallsPerSecond.enumerated().map {
                    limit in (limit.element, limitedCalls.count { $0.service == limit.offset })
                }
            for case (let limit?, let count) in limits where Double(count) > limit * 1.01 + 1 {
                simulation.checkers.fail("\(process) made \(count) calls within a second, \(limit) are allowed")
            }
        } else {
            if !probes.isEmpty { simulation.checkers.fail("\(process) makes two calls at once in an outage") }
            probes.insert(token)
        }
    }

    /// A round of all classes but the most urgent one has eleven calls; a limited push service may be open only in
    /// their turns a few times in a row.
    private static let patienceOfUrgent = 80

    /// The calls of the first request topic get their turns however many others wait.
    private func checkPriority(_ token: CallToken, _ name: RecordName) {
        let service = Int(token.service)
        let waiting = lane.engine.outage == nil ? lane.engine.waitingCalls(ofTopic: 0, toService: service) : 0
        let isPassed =
            simulation.cluster.firstNumbers[name.place.topic] != 0 && waiting > 0
            && waiting >= passedUrgent[service]?.waiting ?? 0
        passedUrgent[service] = (waiting, isPassed ? (passedUrgent[service]?.calls ?? 0) + 1 : 0)
        if let calls = passedUrgent[service]?.calls, calls > Self.patienceOfUrgent {
            simulation.checkers.fail(
                "\(process): \(calls) calls to service \(service) pass \(waiting) of the first topic, which wait")
        }
    }

    private func checkPause(_ token: CallToken) {
        guard lane.engine.outage == nil, lane.engine.isPaused(service: Int(token.service), now: now) else { return }
        simulation.checkers.fail("\(process) calls service \(token.service), which is paused")
    }

    /// A push service that is held gets one probe at a time.
    private func checkHold(_ token: CallToken) {
        // In an outage of all it may be that one's probe.
        guard lane.engine.outage == nil,
            let hold = lane.engine.holds.first(where: { $0.service == Int(token.service) }), !hold.isProbe(token)
        else { return }
        simulation.checkers.fail("\(process) calls service \(token.service), which is held, beside its probe")
    }

    private func noteLimits(_ token: CallToken, _ result: CallResult, isCurrent: Bool) {
        probes.remove(token)
        guard isCurrent else { return }
        guard configuration.deadLetterBreaker.of > 0, !isOfKnownCampaign(token) else { return }
        if lane.engine.outage?.reason == .deadLetterBreaker { mayHaveExcused = true }
        if result.status == 200 { lastDelivery = simulation.now }
        // A source that was bad by itself does not count while others get through.
        let isExcused = mayHaveExcused && simulation.now < lastDelivery + 10_000
        if lane.engine.outage != nil || result.status != 404 || !lane.engine.isRejected(token) || isExcused {
            rejectedInARow = 0
            usersInARow = []
        } else {
            rejectedInARow += 1
            if let record = record(in: token.slot) { usersInARow.insert(record.record.user) }
            // A few users are no sign of a wrong path.
            if rejectedInARow > configuration.deadLetterBreaker.of,
                usersInARow.count
                    >= min(max(10, configuration.deadLetterBreaker.of / 4), configuration.deadLetterBreaker.of)
            {
                simulation.checkers.fail("\(process) made \(rejectedInARow) dead letters with one status in a row")
            }
        }
    }

    /// Whether the answer concerns a known campaign, which it would stop.
    private func isOfKnownCampaign(_ token: CallToken) -> Bool {
        guard let duty = record(in: token.slot)?.record.duties.first,
            let index = simulation.checkers.duties[duty].campaign
        else { return false }
        return toldCampaigns[index] != nil
    }

    private func currentDuty(_ token: CallToken) -> Int? {
        guard lane.engine.slot(token.slot.index).generation == token.slot.generation, !isZombie,
            let record = record(in: token.slot)
        else { return nil }
        return duty(record.record, token)
    }

    /// Notes the effect of an answer on the truth, before the engine hears of it.
    private func note(_ token: CallToken, _ result: CallResult) {
        let wasCounted = counted.remove(token) != nil
        let isFormer = sentAt.removeValue(forKey: token).map { $0 < credentialsChangedAt } ?? false
        guard lane.engine.slot(token.slot.index).generation == token.slot.generation,
            let record = record(in: token.slot), let duty = duty(record.record, token)
        else { return }
        callsOut[record.name, default: 1] -= 1
        if meaning(result) == .rejected { simulation.checkers.wasRejected(duty) }
        if let wait = result.retryAfter { simulation.checkers.toldToWait(duty, wait.count) }
        if isUnanswered(result) { simulation.checkers.wasUnanswered(duty) }
        if meaning(result) == .credentials { simulation.checkers.heardRefusal(duty, ofFormerCredentials: isFormer) }
        // Its inputs no longer count.
        guard !isZombie else { return }
        switch (meaning(result), result.failure) {
        case (.delivered, _), (.rejected, _):
            simulation.checkers.heard(duty)
            simulation.checkers.answeredForGood(duty)
        case (.credentials, _), (_, .nameNotFound?): break
        case (nil, _) where holds(result): break
        case (nil, _) where result.verdict == .oversized: simulation.checkers.answeredForGood(duty)
        case (nil, _) where isUnanswered(result):
            simulation.checkers.heard(duty)
            simulation.checkers.answeredForGood(duty)
        case (.transient, _), (nil, _):
            // A probe without an answer counts only if its outage was ended by a stop meanwhile.
            guard wasCounted || result.status != 0 || lane.engine.outage == nil else { break }
            simulation.checkers.heard(duty)
            if wasCounted {
                simulation.checkers.failedForNow(
                    duty, retryAfter: result.retryAfter?.count,
                    expiresAt: lane.engine.slot(token.slot.index).event.expiresAt?.milliseconds, now: simulation.now)
            } else {
                simulation.checkers.probeCounted(duty)
            }
        }
    }
}
