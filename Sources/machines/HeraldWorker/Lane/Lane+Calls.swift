import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime

extension Lane {
    /// Begins a call with the record's bytes in place.
    func call(_ token: CallToken, now: Moment) {
        guard let record = records[Int(token.slot.index)] else {
            return io.isBroken("a call for a slot without a record")
        }
        let ownTraceparent = tracer?.beginCall(token, now: now.monotonic) ?? []
        record.withValue { value in
            guard let value else { return io.isBroken("a call for a record without a value") }
            engine.withSlot(token.slot.index) { slot in
                // The slot is read in place, because a copy of its event would cost a reference count.
                io.call(token, now: now, event: slot.event, value: value, traceparent: ownTraceparent)
            }
        }
    }

    /// Gives the engine every answer that has arrived.
    func receiveAnswers(now: Moment) {
        io.answers { token, call in
            if call.result.status >= 300, let detail = call.result.detail {
                call.result.detail = hidingMessage(of: token.slot, in: detail)
            }
            if call.result.verdict == .credentials {
                // Before the engine holds.
                io.credentialsRefused(sentAt: call.sentAt, isInOutage: engine.outage?.reason == .credentials)
            }
            tracer?.endCall(token, call, now: now.monotonic)
            meter.callEnded(
                call.result, service: Int(token.service), nanoseconds: call.durationNanoseconds, now: now.monotonic)
            engine.answer(token, call.result, now: now, entropy: io.entropy())
        }
        carryOut(now: now)
    }

    /// Whether a text of data is hidden: shorter ones are words of any answer, such as `true`, unless they are numbers, such
    /// as a code to log in with.
    private static func isHidden(_ text: RawSpan) -> Bool {
        guard text.byteCount < 8 else { return true }
        return text.byteCount >= 4
            && (0..<text.byteCount).contains {
                (0x30...0x39).contains(text.unsafeLoad(fromByteOffset: $0, as: UInt8.self))
            }
    }

    /// Some backends repeat the message, and their answers go into records and logs.
    private func hidingMessage(of slot: SlotID, in detail: String) -> String {
        guard let record = records[Int(slot.index)] else { return detail }
        return record.withValue { value in
            guard let value else { return detail }
            return engine.withSlot(slot.index) { slot in
                let message = slot.event.bytes(of: slot.event.message, value: value)
                let detail = io.redact(detail, hiding: message, named: "message")
                let content = slot.event.content(in: value)
                let texts = content.fields.fields.reduce(detail) { detail, field in
                    switch field {
                    case .title, .link, .image:
                        io.redact(detail, hiding: content.bytes(of: field), named: field.rawValue)
                    case .data, .badge, .sound, .category: detail
                    }
                }
                return (0..<content.dataCount).reduce(texts) { detail, index in
                    Self.isHidden(content.dataText(index))
                        ? io.redact(detail, hiding: content.dataText(index), named: ContentField.data.rawValue) : detail
                }
            }
        }
    }
}
