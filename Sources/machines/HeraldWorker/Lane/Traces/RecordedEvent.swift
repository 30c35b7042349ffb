import HeraldBytes
import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime

/// An event in memory whose spans are recorded.
final class RecordedEvent {
    /// What its record says.
    struct Facts {
        /// The topic that the record came from.
        var topic: String
        var partition: Int32
        var offset: Int64
        /// The event's id; `nil` when it could not be read.
        var id: String?
        /// The campaign that it belongs to.
        var campaign: String?
        /// Calls made before for each of its push services.
        var attempts: Int
        /// How often it was replayed.
        var replays: Int
    }

    let slot: SlotID
    let context: TraceContext
    let facts: Facts
    /// Calls under way.
    var calls: [RecordedCall] = []
    /// What its outcome is written with, once that is decided.
    var settlement: RecordedSettlement?

    private let origin: LaneTracer.Origin
    private let began: MonotonicTime
    /// What the wall clock shows when the monotonic clock shows 0 (nanoseconds): one for all of its spans.
    private let epoch: Int64
    /// Calls in this stay, by push service.
    private var made: [UInt8: Int] = [:]

    init(_ slot: SlotID, _ context: TraceContext, after origin: LaneTracer.Origin, _ facts: Facts, now: Moment) {
        self.slot = slot
        self.context = context
        self.origin = origin
        self.facts = facts
        began = now.monotonic
        epoch = now.wall.milliseconds &* 1_000_000 &- now.monotonic.nanoseconds
    }

    /// A moment of its spans, in nanoseconds since the Unix epoch.
    func wall(_ moment: MonotonicTime) -> Int64 { moment.nanoseconds &+ epoch }

    /// Counts a call: how many there were to this push service before.
    func countCall(_ service: UInt8) -> Int {
        let count = made[service, default: 0]
        made[service] = count + 1
        return facts.attempts + count
    }

    /// The span of its whole stay.
    func span(_ tracing: Tracing, isRecorded: Bool, now: MonotonicTime) -> TraceSpan {
        var attributes = tracing.event
        attributes += [
            SpanAttribute("messaging.operation.name", "process"), SpanAttribute("messaging.operation.type", "process"),
        ]
        attributes += place
        if let id = facts.id { attributes.append(SpanAttribute("messaging.message.id", id)) }
        if let campaign = facts.campaign { attributes.append(SpanAttribute("herald.campaign", campaign)) }
        if facts.attempts > 0 { attributes.append(SpanAttribute("herald.attempts", Int64(facts.attempts))) }
        if facts.replays > 0 { attributes.append(SpanAttribute("herald.replays", Int64(facts.replays))) }
        return TraceSpan(
            context, parent: origin.parent.map { SpanParent(spanID: $0.spanID, isRemote: true) },
            name: "process \(facts.topic)", kind: .consumer, startNanoseconds: wall(began), endNanoseconds: wall(now),
            attributes: attributes, link: origin.writer,
            failure: isRecorded ? settlement?.failure : RecordedSettlement.takenAgain)
    }

    /// Where its record lies.
    var place: [SpanAttribute] {
        [
            SpanAttribute("messaging.destination.name", facts.topic),
            SpanAttribute("messaging.destination.partition.id", "\(facts.partition)"),
            SpanAttribute("messaging.kafka.offset", facts.offset),
        ]
    }

    /// The context of a span below it.
    func context(_ spanID: UInt64) -> TraceContext {
        TraceContext(traceID: context.traceID, spanID: spanID, isSampled: true)
    }

    /// The parent of spans below it.
    var parent: SpanParent { SpanParent(spanID: context.spanID, isRemote: false) }
}

/// A call under way.
struct RecordedCall {
    /// How it ended.
    enum End {
        case answered(EndedCall)
        /// The lane no longer waits for its answer.
        case abandoned
    }

    let spanID: UInt64
    let service: Int
    /// Calls that were made for the same event and push service before.
    let resends: Int
    let began: MonotonicTime

    /// Its span: from the request's first byte to the answer's end, or to the moment when the lane stopped waiting.
    func span(
        of event: RecordedEvent, _ tracing: Tracing, _ pushServices: [String], _ end: End, now: MonotonicTime
    ) -> TraceSpan {
        var attributes = tracing.call
        attributes.append(SpanAttribute("herald.push_service", pushServices[service]))
        if resends > 0 { attributes.append(SpanAttribute("http.request.resend_count", Int64(resends))) }
        var (first, last) = (began, now)
        var failure: String?
        switch end {
        case .answered(let answer):
            // A call that waited for a connection has begun before.
            first = max(began, answer.sentAt)
            last = MonotonicTime(nanoseconds: first.nanoseconds &+ answer.durationNanoseconds)
            let result = answer.result
            if let word = result.failure?.word {
                failure = word
            } else {
                attributes.append(SpanAttribute("http.response.status_code", Int64(result.status)))
                attributes.append(SpanAttribute("network.protocol.version", answer.isHTTP2 ? "2" : "1.1"))
                if result.status >= 300 { failure = "\(result.status)" }
            }
        case .abandoned: failure = "abandoned"
        }
        if let failure { attributes.append(SpanAttribute("error.type", failure)) }
        return TraceSpan(
            event.context(spanID), parent: event.parent, name: tracing.callName, kind: .client,
            startNanoseconds: event.wall(first), endNanoseconds: event.wall(last), attributes: attributes,
            failure: failure)
    }
}

/// How an event's outcome becomes durable: from its first record to the end of the commit that made all of them visible.
final class RecordedSettlement {
    /// Nothing of it is durable: the partition's next owner takes the event again.
    static let takenAgain = "not recorded: the event is taken again"

    let spanID: UInt64
    /// Why the event became a dead letter, if it did.
    private(set) var failure: String?
    private let began: MonotonicTime
    /// What it came to, in the order of its records.
    private var outcomes: [String] = []

    init(spanID: UInt64, began: MonotonicTime) {
        self.spanID = spanID
        self.began = began
    }

    /// Notes a record; one that is written again after an abort is noted once.
    func note(_ production: Production, pushServices: [String], retryDelays: [DelayName]) {
        let names = production.services.map { pushServices[$0] }.joined(separator: ",")
        let outcome: String
        switch production.content {
        case .result(let final, _):
            // The dead letter says it.
            if final.outcome.hasDeadLetter { return }
            outcome = final.outcome.rawValue
        case .copy(let copy):
            switch copy.destination {
            case .retry(let delay, _, let reason):
                outcome = "retry \(retryDelays[delay])" + (reason.map { " \($0.rawValue)" } ?? "")
            case .deadLetter(let reason):
                outcome = "dead-letter \(reason.rawValue)"
                failure = outcome
            }
        case .caps: return
        }
        let text = names.isEmpty ? outcome : "\(names) \(outcome)"
        if !outcomes.contains(text) { outcomes.append(text) }
    }

    /// Its span.
    func span(of event: RecordedEvent, _ tracing: Tracing, isRecorded: Bool, now: MonotonicTime) -> TraceSpan {
        var attributes = tracing.event
        attributes += [
            SpanAttribute("messaging.operation.name", "settle"), SpanAttribute("messaging.operation.type", "settle"),
        ]
        attributes += event.place
        attributes.append(SpanAttribute("herald.outcomes", outcomes))
        return TraceSpan(
            event.context(spanID), parent: event.parent, name: "settle \(event.facts.topic)", kind: .client,
            startNanoseconds: event.wall(began), endNanoseconds: event.wall(now), attributes: attributes,
            failure: isRecorded ? nil : Self.takenAgain)
    }
}
