import Dispatch
import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Writes a call's request from where the record's bytes lie.
    func call(_ token: CallToken, now: Moment) {
        guard let record = held[Int(token.slot.index)] else { return }
        let deadline = calls.deadline(now: now.monotonic)
        let name = pushServiceNames[Int(token.service)]
        record.withValue { value in
            guard let value else { return }
            engine.withSlot(token.slot.index) { slot in
                // Through the slot, because a copy of its event would cost a reference count.
                calls.send(
                    token: token.rawValue, deadline: deadline, now: now.monotonic,
                    pushService: name.span.bytes,
                    user: slot.event.bytes(of: slot.event.user, value: value),
                    message: slot.event.bytes(of: slot.event.message, value: value),
                    id: slot.event.bytes(
                        of: slot.event.replayKey.isPresent ? slot.event.replayKey : slot.event.id, value: value),
                    source: slot.event.source.isPresent
                        ? slot.event.bytes(of: slot.event.source, value: value) : nil,
                    traceparent: slot.event.traceparent.isPresent
                        ? slot.event.bytes(of: slot.event.traceparent, value: value) : nil)
            }
        }
    }

    /// Takes what the process's credentials have become.
    func take(_ news: AccessNews) {
        let now = moment
        switch news {
        case .access(let fresh):
            let isOther = access?.revision != fresh.revision || access?.filesRevision != fresh.filesRevision
            access = fresh
            accessSince = now.monotonic
            isAccessRefused = false
            calls.use(fresh, now: now.monotonic)
            if isOther { engine.credentialsChanged(now: now) }
        case .unavailable(let trouble):
            access = nil
            tokenTrouble = trouble
            engine.credentialsUnavailable(now: now)
        }
    }

    /// The engine saw credentials refused: they are renewed, once for all lanes.
    func renewCredentials() {
        guard let access else { return engine.credentialsRenewed(now: moment) }
        // The answer to a call that was sent with former credentials is no reason to renew the present ones.
        let revision = isAccessRefused ? access.revision : access.revision - 1
        credentials.renew(refused: revision) { [mailbox] in mailbox.post(.credentialsRenewed) }
    }

    private func accessWasRefused() {
        isAccessRefused = true
        // The engine asks before it holds. A token that is refused in a hold may lack a right that was granted since.
        if engine.hold?.reason == .credentials, let access { credentials.renew(refused: access.revision) {} }
    }

    /// Gives the engine every answer that has come.
    func hearAnswers(now: Moment) {
        calls.drain { ended in
            let token = CallToken(rawValue: ended.token)
            let result = result(of: ended, token, now: now)
            meter.callEnded(
                result, service: Int(token.service), nanoseconds: ended.durationNanoseconds,
                now: now.monotonic)
            engine.answer(token, result, now: now, entropy: jitter.next())
        }
        carryOut(now: now)
    }

    /// Some backends repeat what they were sent, and what they say goes into records and logs.
    private func hidingMessage(of slot: SlotID, in detail: String) -> String {
        guard let record = held[Int(slot.index)] else { return detail }
        return record.withValue { value in
            guard let value else { return detail }
            return engine.withSlot(slot.index) { slot in
                Redaction.hiding(message: slot.event.bytes(of: slot.event.message, value: value), in: detail)
            }
        }
    }

    private func result(of ended: BackendCalls.Ended, _ token: CallToken, now: Moment) -> CallResult {
        let milliseconds = Int32(truncatingIfNeeded: ended.durationNanoseconds / 1_000_000)
        switch ended.answer {
        case .status(let status, let retryAfter, let detail):
            if status >= 300, ended.sentAt >= accessSince, configuration.engine.statuses[status] == .credentials {
                accessWasRefused()
            }
            return CallResult(
                status: status,
                retryAfter: retryAfter.flatMap {
                    RetryAfter.milliseconds($0, now: now.wall, limit: configuration.engine.retry.retryAfterLimit)
                }, detail: detail.map { hidingMessage(of: token.slot, in: $0) }, durationMilliseconds: milliseconds)
        case .failure(let kind, let detail):
            return CallResult(failure: CallFailure(kind), detail: detail, durationMilliseconds: milliseconds)
        }
    }
}

extension CallFailure {
    init(_ kind: FailureKind) {
        switch kind {
        case .connectionRefused, .connectFailed: self = .refused
        case .proxyRefused: self = .proxyRefused
        case .connectionReset: self = .reset
        case .timeout: self = .timeout
        case .brokenHTTP: self = .brokenHTTP
        case .tls: self = .tls
        case .nameNotFound: self = .nameNotFound
        }
    }
}
