import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime

extension Lane {
    /// Begins a call with the record's bytes where they lie.
    func call(_ token: CallToken, now: Moment) {
        guard let record = records[Int(token.slot.index)] else {
            return io.isBroken("a call for a slot without a record")
        }
        let ownTraceparent = tracer?.beginCall(token, now: now.monotonic) ?? []
        record.withValue { value in
            guard let value else { return io.isBroken("a call for a record without a value") }
            engine.withSlot(token.slot.index) { slot in
                // Through the slot, because a copy of its event would cost a reference count.
                io.call(token, now: now, event: slot.event, value: value, traceparent: ownTraceparent)
            }
        }
    }

    /// Gives the engine every answer that has come.
    func receiveAnswers(now: Moment) {
        io.answers { token, answer in
            let result = result(of: answer, token, now: now)
            tracer?.endCall(token, answer, now: now.monotonic)
            meter.callEnded(
                result, service: Int(token.service), nanoseconds: answer.durationNanoseconds, now: now.monotonic)
            engine.answer(token, result, now: now, entropy: io.entropy())
        }
        carryOut(now: now)
    }

    private func result(of answer: BackendAnswer, _ token: CallToken, now: Moment) -> CallResult {
        let duration = Milliseconds.milliseconds(answer.durationNanoseconds / 1_000_000)
        if let failure = answer.failure {
            return CallResult(
                failure: failure, detail: answer.detail, duration: duration,
                mayHaveArrived: answer.mayHaveArrived)
        }
        if answer.status < 300 {
            if let oversized = answer.oversized { return CallResult(oversized: oversized) }
            return CallResult(
                status: answer.status, retryAfter: retryAfter(answer, now: now), detail: answer.detail,
                duration: duration)
        }
        let detail = answer.detail.map { hidingMessage(of: token.slot, in: $0) }
        let result = CallResult(
            status: answer.status, retryAfter: retryAfter(answer, now: now), detail: detail,
            duration: duration, verdict: io.verdict(of: answer, detail: detail))
        if result.refusesCredentials(engine.configuration.live.statuses) {
            // The engine asks before it holds.
            io.credentialsRefused(sentAt: answer.sentAt, isInOutage: engine.outage?.reason == .credentials)
        }
        return result
    }

    private func retryAfter(_ answer: BackendAnswer, now: Moment) -> Milliseconds? {
        answer.retryAfter.flatMap {
            RetryAfter.wait($0, now: now.wall, limit: configuration.retry.retryAfterLimit)
        }
    }

    /// Some backends repeat what they were sent, and what they say goes into records and logs.
    private func hidingMessage(of slot: SlotID, in detail: String) -> String {
        guard let record = records[Int(slot.index)] else { return detail }
        return record.withValue { value in
            guard let value else { return detail }
            return engine.withSlot(slot.index) { slot in
                io.redact(detail, hiding: slot.event.bytes(of: slot.event.message, value: value))
            }
        }
    }
}
