import HeraldBytes
import HeraldEvents
import HeraldText
import HeraldTime

/// The properties of the decoder for any input; the fuzzer and the tests check the same ones.
///
/// An input is a record in one piece: lines of `name: value` for the headers, an empty line, and the value.
enum EventDecoderProperties {
    struct Violation: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    static func check(_ input: [UInt8]) throws {
        let (headers, value) = split(input)
        try check(.request, headers, value)
        try check(.retry, headers, value)
    }

    private static func split(_ input: [UInt8]) -> (HeaderList, [UInt8]) {
        var headers = HeaderList()
        var rest = input[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let text = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            headers.append(name: Array(line[..<colon]).span.bytes, value: Array(text).span.bytes)
        }
        return (headers, Array(rest.first == UInt8(ascii: "\n") ? rest.dropFirst() : rest))
    }

    private static func check(
        _ kind: RecordDecoder.TopicKind, _ headers: HeaderList, _ value: [UInt8]
    ) throws {
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: kind, topic: "notifications", partition: 1, offset: 2, value: value.span.bytes,
            headers: headers, into: &event)
        if let failure {
            try expect(!failure.detail.isEmpty, "a failure has no detail")
            try checkRecords(of: event, value, headers, failure)
        } else {
            try checkFields(of: event, value)
            try checkRecords(of: event, value, headers, nil)
            try checkEncoding(of: event, value)
        }
    }

    private static func checkFields(of event: DecodedEvent, _ value: [UInt8]) throws {
        for field in [event.id, event.user, event.message, event.source, event.campaign, event.replayKey] {
            try expect(UTF8Text.isValid(event.bytes(of: field, value: value.span.bytes)), "a field is not UTF-8")
        }
        try expect((1...512).contains(event.id.count), "the id has \(event.id.count) bytes")
        try expect((1...111).contains(event.user.count), "the user has \(event.user.count) bytes")
        try expect((1...4_096).contains(event.message.count), "the message has \(event.message.count) bytes")
        try expect(!event.pushServices.isEmpty, "there is no push service")
        try expect(event.pushServices.isSubset(of: PushServices.standard.all), "there is an unknown push service")
        try expect(event.source.count <= 1_024, "the source has \(event.source.count) bytes")
        try expect(event.campaign.count <= 256, "the campaign has \(event.campaign.count) bytes")
        try checkContent(of: event, value)
        try expect(!event.traceparent.isPresent || event.traceparent.count == 55, "the traceparent is too long")
    }

    /// Checks that the parts beside the message are there as often as they are said to be, within their bounds.
    private static func checkContent(of event: DecodedEvent, _ value: [UInt8]) throws {
        let content = event.content(in: value.span.bytes)
        try expect(content.fields == event.content, "the content has other parts")
        for field in ContentField.allCases {
            let count = content.byteCount(of: field)
            try expect((count > 0) == event.content.contains(field), "\(field) has \(count) bytes")
            try expect(count <= 2_048, "\(field) has \(count) bytes")
        }
        var json = Array("{\"message\":\"\"".utf8)
        for field in ContentField.allCases { content.appendMember(field, to: &json) }
        json.append(UInt8(ascii: "}"))
        try expect((try? JSONValue(json.span.bytes)) != nil, "the content is no JSON")
    }

    /// Checks that the records of the event can be read, with the event's content.
    private static func checkRecords(
        of event: DecodedEvent, _ value: [UInt8], _ headers: HeaderList, _ failure: DecodingFailure?
    ) throws {
        var output: [UInt8] = []
        let moment = WallTime(milliseconds: 1_795_250_426_123)
        ResultEncoder.append(
            ResultFacts(
                outcome: failure == nil ? .delivered : .deadLettered, pushService: failure == nil ? 0 : nil,
                reason: failure?.reason, completedAt: moment),
            of: event, value: value.span.bytes, recordTopic: "notifications", pushServices: .standard, to: &output)
        let result = try NotificationResult(decoding: output)
        try expect(result.id == text(event.id, event, value), "the result has another id")
        try expect(result.user == text(event.user, event, value), "the result has another user")

        var history: [UInt8] = []
        var writer = AttemptHistoryWriter()
        writer.begin(with: event.bytes(of: event.history, value: value.span.bytes))
        writer.append(AttemptEntry(at: moment, pushService: "apns", status: 500, duration: .milliseconds(1)))
        writer.write(to: &history)
        try expect(history.count <= AttemptHistory.maximumByteCount, "the history is too long")
        var written = HeaderList()
        DeliveryHeaders(
            destination: .deadLetter(failure?.reason ?? .rejected, at: moment), pushServices: event.pushServices,
            attempts: event.attempts, originTimestamp: moment
        ).append(
            for: event, value: value.span.bytes, recordTopic: "notifications", original: headers,
            services: .standard, detail: (failure?.detail ?? "").utf8.span.bytes, history: history.span.bytes,
            to: &written)
        let letter = try DeadLetter(key: nil, value: value, headers: written)
        try expect(letter.id == result.id, "the dead letter has another id")
        try expect(letter.origin == result.origin, "the dead letter has another origin")
        try expect(letter.history.last?.status == 500, "the dead letter has lost its last attempt")
        guard failure == nil else { return }

        var again = DecodedEvent()
        let refused = RecordDecoder().decode(
            topicKind: .retry, topic: "notifications.retry.5s", partition: 9, offset: 9, value: value.span.bytes,
            headers: written, into: &again)
        try expect(refused == nil, "its own retry record is refused: \(refused?.detail ?? "")")
        try expect(text(again.id, again, value) == result.id, "the retry has another id")
        try expect(text(again.message, again, value) == text(event.message, event, value), "another message")
        try expect(again.pushServices == event.pushServices, "the retry has other push services")
    }

    /// Checks that a service that publishes the same event gets the same fields.
    private static func checkEncoding(of event: DecodedEvent, _ value: [UInt8]) throws {
        let published = try NotificationEvent(
            user: text(event.user, event, value) ?? "", message: text(event.message, event, value) ?? "",
            pushServices: event.pushServices.map { PushServices.standard.names[$0] },
            source: text(event.source, event, value), campaign: text(event.campaign, event, value)
        ).encoded(checkedWith: RecordDecoder(maxEventBytes: .max))
        var again = DecodedEvent()
        _ = RecordDecoder(maxEventBytes: .max).decode(
            topicKind: .request, topic: "t", partition: 0, offset: 0, value: published.span.bytes,
            headers: HeaderList(), into: &again)
        try expect(
            text(again.message, again, published) == text(event.message, event, value), "the message has changed")
        try expect(text(again.source, again, published) == text(event.source, event, value), "the source has changed")
    }

    private static func text(_ field: ByteField, _ event: DecodedEvent, _ value: [UInt8]) -> String? {
        field.isPresent ? event.bytes(of: field, value: value.span.bytes).text : nil
    }

    private static func expect(_ isTrue: Bool, _ complaint: @autoclosure () -> String) throws {
        guard isTrue else { throw Violation(complaint()) }
    }
}
