internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// Turns records into steps of events: those that were looked for, and no others.
///
/// One is used for record after record.
struct TimelineRecords {
    enum Kind: Sendable {
        case request
        case retry
        case result
        case deadLetter
        case feedback
    }

    private let query: TimelineQuery
    private let decoder: RecordDecoder
    /// How many partitions the request topics have.
    private let partitions: [String: Int]
    private let user: Needle?
    private let id: Needle?
    /// How results name the request record that was asked for.
    private let place: BytePattern?
    private var event = DecodedEvent()
    private var headers = HeaderList()
    /// Request records of the user without a value.
    private(set) var tombstoneCount = 0

    init(_ query: TimelineQuery, decoder: RecordDecoder, partitions: [String: Int]) {
        self.query = query
        self.decoder = decoder
        self.partitions = partitions
        user = query.user.map(Needle.init)
        id = query.id.map(Needle.init)
        place = query.origin.map { BytePattern("\"offset\":\($0.offset)") }
    }

    /// Adds what the record tells, if it is about the wanted.
    ///
    /// - Parameter topic: its topic.
    mutating func add(_ message: Message, of kind: Kind, topic: String, to builder: inout TimelineBuilder) {
        let record = Origin(topic: topic, partition: message.partition, offset: message.offset)
        if kind == .request, let user, message.withKey(user.isEqual), message.withValue({ $0 == nil }) {
            tombstoneCount += 1
        }
        // An event without an id of its own is not named by its request.
        guard record == query.origin || mayMatter(message) else { return }
        let at = WallTime(milliseconds: message.timestampMilliseconds)
        switch kind {
        case .result: addResult(message, record, to: &builder)
        case .feedback: addFeedback(message, record, to: &builder)
        case .request, .retry, .deadLetter: addEvent(message, of: kind, record, at, to: &builder)
        }
    }

    // MARK: A cheap look

    private func mayMatter(_ message: Message) -> Bool {
        if let user, !mentions(message, user) { return false }
        guard let id, !mentions(message, id) else { return true }
        guard let place else { return false }
        return message.withValue { value in
            guard let value else { return false }
            return place.occurs(in: value)
        }
    }

    private func mentions(_ message: Message, _ needle: Needle) -> Bool {
        if message.withKey(needle.isEqual) { return true }
        if message.withValue(needle.mayOccur) { return true }
        var isFound = false
        message.forEachHeader { _, value in
            if needle.isEqual(to: value) { isFound = true }
        }
        return isFound
    }

    // MARK: Results

    private func addResult(_ message: Message, _ record: Origin, to builder: inout TimelineBuilder) {
        guard let result = message.result else { return }
        // What does not decode is known by its key alone.
        let user = result.user ?? message.keyCopy.map { String(decoding: $0, as: UTF8.self) }
        guard query.matches(user: user, id: result.id, origin: result.origin) else { return }
        builder.add(
            [TimelineStep(at: result.completedAt, kind: .settled(result), record: record)], to: result.origin,
            TimelineBuilder.Identity(
                id: result.id, user: user, source: result.source, campaign: result.campaign,
                pushServices: result.pushService.map { [$0] } ?? []))
    }

    private func addFeedback(_ message: Message, _ record: Origin, to builder: inout TimelineBuilder) {
        let found = message.withValue { value -> FeedbackRecord? in
            guard let value else { return nil }
            return try? FeedbackRecord(decoding: value)
        }
        guard case .notification(let feedback) = found,
            query.matches(user: feedback.user, id: feedback.id, origin: feedback.origin)
        else { return }
        builder.add(
            [TimelineStep(at: feedback.checkedAt, kind: .reported(feedback), record: record)], to: feedback.origin,
            TimelineBuilder.Identity(
                id: feedback.id, user: feedback.user, source: feedback.source, campaign: feedback.campaign,
                pushServices: feedback.pushService.map { [$0] } ?? []))
    }

    // MARK: Events

    private mutating func addEvent(
        _ message: Message, of kind: Kind, _ record: Origin, _ at: WallTime, to builder: inout TimelineBuilder
    ) {
        headers.replaceAll(by: message)
        let key = message.keyCopy
        // Only a dead letter may have lost its value.
        guard let value = message.valueCopy ?? (kind == .deadLetter ? [] : nil) else { return }
        let failure = decoder.decode(
            topicKind: kind == .request ? .request : .retry, topic: record.topic, partition: record.partition,
            offset: record.offset, value: value.span.bytes, headers: headers, into: &event)
        var identity = TimelineBuilder.Identity(
            id: text(event.id, value) ?? text(.id), user: text(event.user, value),
            source: text(event.source, value) ?? text(.source),
            campaign: text(event.campaign, value) ?? text(.campaign), eventClass: event.eventClass,
            trace: text(event.traceparent, value).map { String($0.dropFirst(3).prefix(32)) })
        // What does not decode is known by its key alone.
        if identity.user == nil, let key { identity.user = String(decoding: key, as: UTF8.self) }
        // A request tells of another one only where workers take it for that one's replay.
        let named = kind == .request ? text(event.origin, value) : text(.origin)
        let origin = named.flatMap(Origin.init) ?? record
        guard query.matches(user: identity.user, id: identity.id, origin: origin) else { return }
        let services = decoder.pushServices.names.indices.filter { event.pushServices.contains($0) }
            .map { decoder.pushServices.names[$0] }
        if origin == record { identity.pushServices = services }
        if kind == .request, failure == nil {
            identity.fault = event.publisherFault(
                key: key, value: value, partition: record.partition, of: partitions[record.topic] ?? 0, headers: headers
            )
        }
        builder.add(
            calls(before: record, of: kind, value) + [step(of: kind, record, at, services, origin)], to: origin,
            identity)
    }

    private func step(
        of kind: Kind, _ record: Origin, _ at: WallTime, _ services: [String], _ origin: Origin
    ) -> TimelineStep {
        let named = text(.pushServices)?.split(separator: ",").map { String($0) } ?? services
        switch kind {
        case .deadLetter:
            let reason = text(.reason).flatMap(DeadLetterReason.init(rawValue:)) ?? .invalid
            return TimelineStep(
                at: moment(.deadLetteredAt) ?? at,
                kind: .deadLettered(reason: reason, detail: text(.detail), pushServices: named), record: record,
                letter: letter(record, origin))
        case .retry:
            let what = TimelineStep.Kind.delayed(
                reason: text(.reason), detail: text(.detail), until: moment(.notBefore), pushServices: named)
            return TimelineStep(at: at, kind: what, record: record)
        case .request, .result, .feedback:
            let what: TimelineStep.Kind =
                event.replays > 0
                ? .replayed(number: event.replays, pushServices: named)
                : .published(notBefore: event.notBefore, expiresAt: event.expiresAt, content: event.content)
            return TimelineStep(at: at, kind: what, record: record)
        }
    }

    /// Of the headers alone, as lists of dead letters have it: what does not decode has them too.
    private func letter(_ record: Origin, _ origin: Origin) -> LetterFacts {
        let replays = headers.lastValue(named: HeaderName.replays.literal)?.decimal ?? 0
        return LetterFacts(
            partition: record.partition, offset: record.offset, origin: origin,
            pushServices: text(.pushServices)?.split(separator: ",").map { String($0) } ?? [],
            replays: Int(min(max(replays, 0), Int64(Int32.max))))
    }

    /// The calls that a record's history tells of.
    private func calls(before record: Origin, of kind: Kind, _ value: [UInt8]) -> [TimelineStep] {
        let history =
            kind == .request
            ? event.bytes(of: event.history, value: value.span.bytes)
            : headers.lastValue(named: HeaderName.history.literal)
        guard let history else { return [] }
        return AttemptHistory.decode(history).map { TimelineStep(at: $0.at, kind: .called($0), record: record) }
    }

    private func text(_ field: ByteField, _ value: [UInt8]) -> String? {
        field.isPresent ? event.bytes(of: field, value: value.span.bytes).text : nil
    }

    private func text(_ name: HeaderName) -> String? { headers.lastValue(named: name.literal)?.text }

    private func moment(_ name: HeaderName) -> WallTime? {
        headers.lastValue(named: name.literal)?.decimal.map { WallTime(milliseconds: $0) }
    }
}

/// A text that is looked for in records before they are decoded.
private struct Needle {
    private let bytes: [UInt8]
    private let pattern: BytePattern
    /// JSON may write any character, these too, as an escape.
    private static let escape = BytePattern("\\")

    init(_ text: String) {
        bytes = Array(text.utf8)
        pattern = BytePattern(text)
    }

    func isEqual(to value: RawSpan?) -> Bool {
        guard let value else { return false }
        return value.hasSameBytes(as: bytes.span.bytes)
    }

    func mayOccur(in value: RawSpan?) -> Bool {
        guard let value else { return false }
        return pattern.occurs(in: value) || Self.escape.occurs(in: value)
    }
}
