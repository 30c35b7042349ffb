internal import HeraldBytes
package import HeraldEvents
package import HeraldText

/// Makes records of events: checks each as Herald will, and gives an id to those that have none.
///
/// With an id the same event sent twice has the same idempotency key; its place would be another one each time.
package struct EventPreparation {
    private let decoder: RecordDecoder
    private let idBase: String
    private var forms = EventForms()

    package static let cloudEventType = "application/cloudevents+json"

    static let cloudEventHeaders = {
        var headers = HeaderList()
        headers.append("content-type", cloudEventType)
        return headers
    }()

    /// Prepares events for a worker that decodes with `decoder`.
    ///
    /// - Parameter idBase: the id of a single event; in a file a dash and the line's number follow it.
    package init(decoder: RecordDecoder, idBase: String) {
        self.decoder = decoder
        self.idBase = idBase
    }

    /// A new unique id: 32 hexadecimal digits.
    package static func randomID() -> String {
        (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// The longest line that can be an event.
    package var longestLine: Int { decoder.maxEventBytes }

    package var pushServices: PushServices { decoder.pushServices }

    /// One event from its fields; without an id it gets the base.
    package func prepare(_ notification: NotificationEvent) throws(InputError) -> PreparedEvent {
        var notification = notification
        notification.id = notification.id ?? idBase
        do throws(DecodingFailure) {
            return try read(try notification.encoded(checkedWith: decoder), line: 1)
        } catch {
            throw InputError(error.sentence)
        }
    }

    /// One event from its JSON, which goes into the record as it is, but for an id that it lacks; a structured CloudEvent is
    /// told by its `specversion`.
    package mutating func prepare(_ line: TextLine) throws(InputError) -> PreparedEvent {
        if let mistake = decoder.oversize(of: line) { throw InputError(mistake, line: line.number) }
        do throws(DecodingFailure) {
            if forms.isCloudEvent(line.bytes) { return try read(line.bytes, line: line.number, isCloudEvent: true) }
            let given = try read(line.bytes, line: line.number)
            guard given.id == nil, let start = line.bytes.firstIndex(of: UInt8(ascii: "{")) else { return given }
            var value = Array(line.bytes[...start])
            value += Array(#""id":"#.utf8)
            JSONText.appendString("\(idBase)-\(line.number)".utf8.span.bytes, to: &value)
            value.append(UInt8(ascii: ","))
            value += line.bytes[(start + 1)...]
            do throws(DecodingFailure) {
                return try read(value, line: line.number)
            } catch {
                // Of a base that is too long; one that has no room for an id stays as it is: `"id": null` is there, or its
                // size is at the limit.
                if error.reason == .invalid { throw error }
                return given
            }
        } catch {
            throw InputError(error.sentence, line: line.number)
        }
    }

    private func read(
        _ value: [UInt8], line: Int, isCloudEvent: Bool = false
    ) throws(DecodingFailure) -> PreparedEvent {
        var event = DecodedEvent()
        if let failure = decoder.failure(of: value, isCloudEvent: isCloudEvent, into: &event) { throw failure }
        let bytes = value.span.bytes
        return PreparedEvent(
            line: line, id: event.hasOwnID ? event.bytes(of: event.id, value: bytes).text : nil,
            user: event.bytes(of: event.user, value: bytes).text, pushServices: event.pushServices, value: value,
            isCloudEvent: isCloudEvent)
    }
}

/// Tells structured CloudEvents from plain events.
struct EventForms {
    private var envelope = JSONFields(names: ["specversion"])

    /// What is no JSON is a plain event, and its mistake is said as one's.
    mutating func isCloudEvent(_ value: [UInt8]) -> Bool {
        (try? envelope.read(value.span.bytes)) != nil && envelope.fields[0].isPresent
    }
}

extension RecordDecoder {
    /// Why an event cannot be sent; `nil` when it can.
    package func failure(of value: [UInt8], isCloudEvent: Bool, into event: inout DecodedEvent) -> DecodingFailure? {
        decode(
            topicKind: .request, topic: "unpublished", partition: 0, offset: 0, value: value.span.bytes,
            headers: isCloudEvent ? EventPreparation.cloudEventHeaders : HeaderList(), into: &event)
    }

    /// Why a line cannot be an event, because of its size alone.
    func oversize(of line: TextLine) -> String? {
        guard line.byteCount > maxEventBytes else { return nil }
        return
            "\(DeadLetterReason.oversized.rawValue): the line has \(line.byteCount) bytes; at most \(maxEventBytes) are "
            + "allowed"
    }
}

extension DecodingFailure {
    /// Such as `invalid: user is missing; …`.
    var sentence: String { "\(reason.rawValue): \(detail)" }
}
