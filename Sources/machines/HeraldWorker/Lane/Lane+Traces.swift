import HeraldBytes
import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime

/// A lane's calls of its tracer; without one there is no tracing work.
extension Lane {
    /// Traces a taken event, whose record's headers are still at hand.
    func trace(_ tracer: LaneTracer, taken id: SlotID, _ record: IO.Record.Retained, now: Moment) {
        record.withValue { value in
            guard let value else { return }
            engine.withSlot(id.index) { slot in
                let origin = origin(of: slot, value: value)
                guard let context = tracer.context(after: origin) else { return }
                let position = engine.position(of: slot.partition)
                func text(_ field: ByteField) -> String? {
                    field.isPresent ? slot.event.bytes(of: field, value: value).text : nil
                }
                let facts = RecordedEvent.Facts(
                    topic: position.topic, partition: position.number, offset: slot.offset, id: text(slot.event.id),
                    campaign: text(slot.event.campaign), attempts: slot.event.attempts, replays: slot.event.replays)
                tracer.begin(id, context, after: origin, facts, now: now)
            }
        }
    }

    private func origin(of slot: borrowing Slot, value: RawSpan) -> LaneTracer.Origin {
        var origin = LaneTracer.Origin()
        let headers = headers
        if slot.event.traceparent.isPresent {
            origin.parent = TraceContext(slot.event.bytes(of: slot.event.traceparent, value: value))
        } else if let text = headers.lastValue(named: HeaderName.traceparent.literal) {
            // An undecodable event has one all the same.
            origin.parent = TraceContext(text)
        }
        if let text = headers.lastValue(named: HeaderName.writtenBy.literal) { origin.writer = TraceContext(text) }
        return origin
    }

    /// Traces an event's record before it is produced, with its original and own headers at hand.
    func trace(_ tracer: LaneTracer, producing production: Production, now: Moment) {
        tracer.note(production, retryDelays: configuration.retryDelays, now: now.monotonic)
        // A record too large for its topic goes without: nothing depends on it.
        guard case .copy(let copy) = production.content, !copy.omissions.contains(.history) else { return }
        let isTraced = engine.withSlot(production.slot.index) { $0.event.traceparent.isPresent }
        tracer.appendHeaders(
            production.slot, isTraced: isTraced || headers.lastIndex(named: HeaderName.traceparent.literal) != nil,
            to: &output.headers)
    }
}
