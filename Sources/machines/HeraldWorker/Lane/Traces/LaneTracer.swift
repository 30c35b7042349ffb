import HeraldBytes
import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime

/// A lane's spans: for each recorded event one from its record's arrival to its end, and below it one for each call and
/// one for the record that made its outcome durable.
///
/// It belongs to the lane's thread, and never waits: ended spans are put into a queue in passing, and those without
/// room are dropped and counted. docs/TRACES.md has the tree.
package final class LaneTracer {
    /// The number of spans that wait here while another thread has the queue.
    private static let patience = 4 * SpanQueue.batchLimit

    private let tracing: Tracing
    private let pushServices: [String]
    /// The recorded event in each of the engine's slots.
    private var events: [RecordedEvent?]
    private var ended: [TraceSpan] = []
    private var dropped = 0
    private var random: SplitMix64

    /// For a lane with this many slots.
    ///
    /// - Parameter seed: the seed of the spans' ids.
    package init(_ tracing: Tracing, slots: Int, pushServices: [String], seed: UInt64) {
        self.tracing = tracing
        self.pushServices = pushServices
        events = Array(repeating: nil, count: slots)
        random = SplitMix64(seed: seed)
    }

    /// Grows to this many slots, never fewer than before.
    func grow(to slots: Int) {
        events += Array(repeating: nil, count: slots - events.count)
    }

    // MARK: The event

    /// The trace contexts in an event's record.
    struct Origin {
        /// The producer's span, or the event's first one: the parent of all that follow.
        var parent: TraceContext?
        /// The span that wrote the record.
        var writer: TraceContext?
    }

    /// The context of a taken event, if it is to be recorded.
    func context(after origin: Origin) -> TraceContext? {
        let traceID = origin.parent?.traceID ?? TraceID(high: identifier(), low: identifier())
        guard tracing.sampler.records(traceID, parent: origin.parent) else { return nil }
        return TraceContext(traceID: traceID, spanID: identifier(), isSampled: true)
    }

    /// Begins an event's span.
    func begin(
        _ slot: SlotID, _ context: TraceContext, after origin: Origin, _ facts: RecordedEvent.Facts, now: Moment
    ) {
        events[Int(slot.index)] = RecordedEvent(slot, context, after: origin, facts, now: now)
    }

    /// Ends an event's span when its slot is given back.
    ///
    /// - Parameter isRecorded: whether its outcome is durable; otherwise a consumer takes it again.
    func end(_ slot: Int32, isRecorded: Bool, now: MonotonicTime) {
        guard let event = events[Int(slot)] else { return }
        events[Int(slot)] = nil
        for call in event.calls { add(call.span(of: event, tracing, pushServices, .abandoned, now: now)) }
        if let settlement = event.settlement {
            add(settlement.span(of: event, tracing, isRecorded: isRecorded, now: now))
        }
        add(event.span(tracing, isRecorded: isRecorded, now: now))
    }

    // MARK: Its calls

    /// Begins a call's span; returns the backend's `traceparent`, `nil` when the event is not recorded.
    func beginCall(_ token: CallToken, now: MonotonicTime) -> [UInt8]? {
        guard let event = recorded(token.slot) else { return nil }
        let call = RecordedCall(
            spanID: identifier(), service: Int(token.service), resends: event.countCall(token.service), began: now)
        event.calls.append(call)
        return TraceContext(traceID: event.context.traceID, spanID: call.spanID, isSampled: true).bytes
    }

    /// Ends a call's span.
    func endCall(_ token: CallToken, _ answer: EndedCall, now: MonotonicTime) {
        guard let event = recorded(token.slot),
            let index = event.calls.firstIndex(where: { $0.service == Int(token.service) })
        else { return }
        let call = event.calls.remove(at: index)
        add(call.span(of: event, tracing, pushServices, .answered(answer), now: now))
    }

    // MARK: Its records

    /// Notes that a record of the event is produced.
    func note(_ production: Production, retryDelays: [DelayName], now: MonotonicTime) {
        guard let event = recorded(production.slot) else { return }
        let settlement = event.settlement ?? RecordedSettlement(spanID: identifier(), began: now)
        settlement.note(production, pushServices: pushServices, retryDelays: retryDelays)
        event.settlement = settlement
    }

    /// Appends the trace headers of a retry or a dead letter to the original's.
    ///
    /// An event that came without a trace context gets one, so that all of its stays are one trace, or none.
    func appendHeaders(_ slot: SlotID, isTraced: Bool, to headers: inout HeaderList) {
        let event = recorded(slot)
        if !isTraced {
            let first =
                event?.context
                ?? TraceContext(
                    traceID: TraceID(high: identifier(), low: identifier()), spanID: identifier(), isSampled: false)
            headers.append(name: HeaderName.traceparent.literal, value: first.bytes.span.bytes)
        }
        guard let event, let settlement = event.settlement else { return }
        let writer = TraceContext(traceID: event.context.traceID, spanID: settlement.spanID, isSampled: true)
        headers.append(name: HeaderName.writtenBy.literal, value: writer.bytes.span.bytes)
    }

    // MARK: The way out

    /// Puts ended spans into the queue, unless another thread has it at this moment.
    func handOver() {
        guard !ended.isEmpty || dropped > 0 else { return }
        tracing.queue.offer(&ended, alreadyDropped: &dropped)
    }

    /// Hands over the remaining spans at the lane's end.
    func close() {
        tracing.queue.add(ended, alreadyDropped: dropped)
        (ended, dropped) = ([], 0)
    }

    private func add(_ span: TraceSpan) {
        guard ended.count < Self.patience else {
            dropped += 1
            return
        }
        ended.append(span)
        // One commit may end thousands of events.
        if ended.count.isMultiple(of: SpanQueue.batchLimit) { handOver() }
    }

    private func recorded(_ slot: SlotID) -> RecordedEvent? {
        guard let event = events[Int(slot.index)], event.slot == slot else { return nil }
        return event
    }

    /// Random, and not 0.
    private func identifier() -> UInt64 {
        while true {
            let number = random.next()
            if number != 0 { return number }
        }
    }
}
