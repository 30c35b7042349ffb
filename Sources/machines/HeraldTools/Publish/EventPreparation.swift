internal import HeraldBytes
package import HeraldEvents
package import HeraldText

/// Makes records of events: checks each as Herald will, and gives an id to those that have none.
///
/// With an id the same event sent twice has the same idempotency key; its place would be another one each time.
package struct EventPreparation {
    private let decoder: RecordDecoder
    private let idBase: String
    /// What the decoder makes an id of when there is none; no publisher can have written it.
    private let absentID: String
    private let probeTopic: String
    private var event = DecodedEvent()
    private var envelope = JSONFields(names: ["specversion"])
    private let cloudEventHeaders: HeaderList

    package static let cloudEventType = "application/cloudevents+json"

    /// Prepares events for a worker that decodes with `decoder`.
    ///
    /// - Parameter idBase: the id of a single event; in a file a dash and the line's number follow it.
    package init(decoder: RecordDecoder, idBase: String) {
        self.decoder = decoder
        self.idBase = idBase
        probeTopic = "unpublished-" + Self.randomID()
        absentID = "\(probeTopic)/0/0"
        var headers = HeaderList()
        headers.append("content-type", Self.cloudEventType)
        cloudEventHeaders = headers
    }

    /// A new unique id: 32 hexadecimal digits.
    package static func randomID() -> String {
        var text = ""
        for _ in 0..<2 {
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            text += String(repeating: "0", count: 16 - digits.count) + digits
        }
        return text
    }

    /// The longest line that can be an event.
    package var longestLine: Int { decoder.maxEventBytes }

    package var pushServices: PushServices { decoder.pushServices }

    /// One event from its fields; without an id it gets the base.
    package mutating func prepare(_ notification: NotificationEvent) throws(InputError) -> PreparedEvent {
        var notification = notification
        notification.id = notification.id ?? idBase
        do throws(DecodingFailure) {
            let value = try notification.encoded(checkedWith: decoder)
            return try read(value, line: 1)
        } catch {
            throw Self.mistake(error.reason, error.detail)
        }
    }

    /// One event from its JSON, which goes into the record as it is, but for an id that it lacks; a structured CloudEvent is
    /// told by its `specversion`.
    package mutating func prepare(_ line: TextLine) throws(InputError) -> PreparedEvent {
        guard line.byteCount <= decoder.maxEventBytes else {
            throw Self.mistake(
                .oversized, "the line has \(line.byteCount) bytes; at most \(decoder.maxEventBytes) are allowed",
                line: line.number)
        }
        do throws(DecodingFailure) {
            if isCloudEvent(line) { return try read(line.bytes, line: line.number, isCloudEvent: true) }
            let given = try read(line.bytes, line: line.number)
            guard given.id == nil, let start = line.bytes.firstIndex(of: UInt8(ascii: "{")) else { return given }
            var value = Array(line.bytes[...start])
            value += Array(#""id":"#.utf8)
            JSONText.appendString("\(idBase)-\(line.number)".utf8.span.bytes, to: &value)
            value.append(UInt8(ascii: ","))
            value += line.bytes[(start + 1)...]
            return try readWithID(value, line: line.number) ?? given
        } catch {
            throw Self.mistake(error.reason, error.detail, line: line.number)
        }
    }

    private static func mistake(_ reason: DeadLetterReason, _ detail: String, line: Int? = nil) -> InputError {
        InputError("\(reason.rawValue): \(detail)", line: line)
    }

    /// The event with the id; `nil` when it has no room for one: `"id": null` is there, or its size is at the limit.
    private mutating func readWithID(_ value: [UInt8], line: Int) throws(DecodingFailure) -> PreparedEvent? {
        do throws(DecodingFailure) {
            return try read(value, line: line)
        } catch {
            guard error.reason == .invalid else { return nil }
            // A base that is too long.
            throw error
        }
    }

    /// What is no JSON is a plain event, and its mistake is said as one's.
    private mutating func isCloudEvent(_ line: TextLine) -> Bool {
        do throws(JSONError) {
            try envelope.read(line.bytes.span.bytes)
            return envelope.fields[0].isPresent
        } catch {
            return false
        }
    }

    private mutating func read(
        _ value: [UInt8], line: Int, isCloudEvent: Bool = false
    ) throws(DecodingFailure) -> PreparedEvent {
        let bytes = value.span.bytes
        let failure = decoder.decode(
            topicKind: .request, topic: probeTopic, partition: 0, offset: 0, value: bytes,
            headers: isCloudEvent ? cloudEventHeaders : HeaderList(), into: &event)
        if let failure { throw failure }
        let id = event.bytes(of: event.id, value: bytes).text
        return PreparedEvent(
            line: line, id: id == absentID ? nil : id, user: event.bytes(of: event.user, value: bytes).text,
            pushServices: event.pushServices, value: value, isCloudEvent: isCloudEvent)
    }
}
