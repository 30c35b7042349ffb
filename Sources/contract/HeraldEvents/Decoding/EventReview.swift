import HeraldBytes
import HeraldText
package import HeraldTime

/// All that can be said of an event before it is published: every mistake, and what is allowed and probably not meant.
package struct EventReview: Sendable {
    /// Why it could not be sent, each mistake once; none for an event.
    package var mistakes: [DecodingFailure]
    /// What is ignored or does not do what was probably meant, a sentence each.
    package var warnings: [String] = []
    /// What of it could be read.
    package let event: DecodedEvent

    /// What Herald would say of a record.
    ///
    /// - Parameters:
    ///   - isCloudEvent: whether the value is a structured CloudEvent; else it is a plain event.
    ///   - now: what is past, and what is far away.
    package init(of value: [UInt8], isCloudEvent: Bool, _ decoder: RecordDecoder, now: WallTime) {
        let probe = EventProbe(decoder: decoder, isCloudEvent: isCloudEvent)
        var event = DecodedEvent()
        let first = probe.failure(of: value, into: &event)
        self.event = event
        mistakes = [first].compactMap(\.self)
        guard let read = ReadEvent(value, isCloudEvent: isCloudEvent) else { return }
        if let first { mistakes += probe.mistakes(of: read, beside: first) }
        // The members of another program's envelope are no fields, and are named as that.
        let bytes = value.span.bytes
        let isForeign = ForeignValue.hint(on: bytes, from: RecordDecoder.documentStart(in: bytes)) != nil
        warnings = (isForeign ? [] : read.ignoredNames()) + read.momentWarnings(now: now)
    }
}

/// An event's members, as they are written.
private struct ReadEvent {
    struct Member {
        var name: String
        /// With a string's quotes.
        var json: [UInt8]
        /// A string's text.
        var text: String?
    }

    /// Those of the value.
    let members: [Member]
    /// Those of the object in which the message stands: the value, or a CloudEvent's data.
    let inner: [Member]
    private let isCloudEvent: Bool

    /// `nil` for what is no JSON object.
    init?(_ value: [UInt8], isCloudEvent: Bool) {
        guard let members = try? Self.members(of: value) else { return nil }
        self.members = members
        self.isCloudEvent = isCloudEvent
        guard isCloudEvent else {
            inner = members
            return
        }
        let data = members.last { $0.name == EventField.data.text }?.json ?? []
        inner = (try? Self.members(of: data)) ?? []
    }

    private static func members(of object: [UInt8]) throws(JSONError) -> [Member] {
        let bytes = object.span.bytes
        var reader = JSONReader(bytes)
        try reader.enterDocumentObject()
        var members: [Member] = []
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let token = try reader.readValue()
            let isText = token.kind == .string
            let range = isText ? token.range.lowerBound - 1..<token.range.upperBound + 1 : token.range
            members.append(
                Member(
                    name: key.text(in: bytes), json: Array(object[range]), text: isText ? token.text(in: bytes) : nil))
        }
        try reader.expectEnd()
        return members
    }

    // MARK: Names

    /// Members that Herald ignores, with what they were probably meant as.
    func ignoredNames() -> [String] {
        let options = inner.last { $0.name == EventField.options.text }
        let ofOptions = options.flatMap { try? Self.members(of: $0.json) } ?? []
        let names = FieldTraps.Names(
            event: inner.map(\.name), options: ofOptions.map(\.name),
            envelope: isCloudEvent ? members.map(\.name) : nil)
        return FieldTraps.warnings(of: names)
    }

    // MARK: Moments

    func momentWarnings(now: WallTime) -> [String] {
        let expiresAt = moment(.expiresAt, in: inner)
        let notBefore = moment(.notBefore, in: inner)
        var warnings: [String] = []
        if let expiresAt, expiresAt <= now {
            warnings.append("expiresAt (\(RFC3339.text(expiresAt))) is past: the event would expire unsent")
        } else if let expiresAt, let notBefore, notBefore >= expiresAt {
            warnings.append(
                "notBefore (\(RFC3339.text(notBefore))) is not before expiresAt (\(RFC3339.text(expiresAt))): the event would expire "
                    + "unsent")
        }
        if let notBefore, notBefore <= now {
            warnings.append("notBefore (\(RFC3339.text(notBefore))) is past: the event would be sent at once")
        }
        for (field, moment) in [(EventField.expiresAt, expiresAt), (.notBefore, notBefore)] {
            if let moment, moment > now.advanced(by: Self.farAhead) {
                warnings.append("\(field.text) (\(RFC3339.text(moment))) is more than a year away")
            }
        }
        if let time = moment(.time, in: members), time > now.advanced(by: .days(1)) {
            warnings.append("time (\(RFC3339.text(time))), when it happened, is more than a day away")
        }
        return warnings
    }

    private static let farAhead = Milliseconds.days(366)

    private func moment(_ field: EventField, in members: [Member]) -> WallTime? {
        members.last { $0.name == field.text }?.text.flatMap { RFC3339.parse($0.utf8.span.bytes) }
    }
}

/// Asks the decoder of each field alone, beside others that are well: it says only the first mistake of an event.
private struct EventProbe {
    let decoder: RecordDecoder
    let isCloudEvent: Bool

    private static let envelopeFields: [EventField] = [.specversion, .id, .source, .type, .time, .data, .dataBase64]
    private static let dataFields: [EventField] = [
        .user, .message, .pns, .campaign, .expiresAt, .notBefore, .options,
    ]
    private static let plainFields: [EventField] = [.id, .source, .time] + dataFields

    func failure(of value: [UInt8], into event: inout DecodedEvent) -> DecodingFailure? {
        var headers = HeaderList()
        if isCloudEvent { headers.append("content-type", "application/cloudevents+json") }
        return decoder.decode(
            topicKind: .request, topic: "unpublished", partition: 0, offset: 0, value: value.span.bytes,
            headers: headers, into: &event)
    }

    /// The mistakes of an event that are others than the first.
    func mistakes(of event: ReadEvent, beside first: DecodingFailure) -> [DecodingFailure] {
        var found: [DecodingFailure] = []
        var scratch = DecodedEvent()
        for value in isCloudEvent ? envelopes(event) : objects(event, Self.plainFields) {
            guard let failure = failure(of: value, into: &scratch), failure != first, !found.contains(failure) else {
                continue
            }
            found.append(failure)
        }
        return found
    }

    /// What a field has when another one is asked about; the others are optional.
    private func standard(_ field: EventField) -> String? {
        switch field {
        case .user: #""u""#
        case .message: #""m""#
        case .pns: "\"\(decoder.pushServices.names[0])\""
        case .specversion: #""1.0""#
        case .source, .type: isCloudEvent ? #""x""# : nil
        case .id: isCloudEvent ? #""x""# : nil
        case .data, .campaign, .time, .expiresAt, .notBefore, .dataBase64, .traceparent, .options: nil
        }
    }

    /// An object for each field: with the event's own value of that, and the standard of all others.
    private func objects(_ event: ReadEvent, _ fields: [EventField]) -> [[UInt8]] {
        fields.compactMap { field in
            let own = event.inner.last { $0.name == field.text }?.json
            guard own != nil || standard(field) != nil else { return nil }
            return object(fields, in: field, own)
        }
    }

    private func envelopes(_ event: ReadEvent) -> [[UInt8]] {
        let well = object(Self.dataFields, in: nil, nil)
        var values: [[UInt8]] = Self.envelopeFields.compactMap { field in
            let own = event.members.last { $0.name == field.text }?.json
            guard own != nil || standard(field) != nil || field == .data else { return nil }
            // An object is asked about by its own fields.
            if field == .data, own?.first == UInt8(ascii: "{") { return nil }
            return object(Self.envelopeFields, in: field, own, data: field == .data ? nil : well)
        }
        if event.members.contains(where: { $0.name == EventField.data.text && $0.json.first == UInt8(ascii: "{") }) {
            values += objects(event, Self.dataFields).map { data in
                object(Self.envelopeFields, in: nil, nil, data: data)
            }
        }
        return values
    }

    private func object(
        _ fields: [EventField], in probed: EventField?, _ own: [UInt8]?, data: [UInt8]? = nil
    ) -> [UInt8] {
        var members: [[UInt8]] = []
        for field in fields {
            let json = field == probed ? own : field == .data ? data : standard(field).map { Array($0.utf8) }
            if let json { members.append(Array("\"\(field.text)\":".utf8) + json) }
        }
        return [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }
}

extension EventField {
    var text: String { "\(name)" }
}
