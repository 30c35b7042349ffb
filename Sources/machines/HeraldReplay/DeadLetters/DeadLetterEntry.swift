internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Offsets of the dead-letter topic to read, by partition.
package typealias LetterRanges = [Int32: Range<Int64>]

/// One record of the dead-letter topic as it lies there; one is filled again for record after record.
///
/// Nothing in it is trusted: what a header says wrongly counts as not said.
package struct DeadLetterEntry: Sendable {
    package private(set) var partition: Int32 = 0
    package private(set) var offset: Int64 = 0
    package private(set) var timestamp = WallTime(milliseconds: 0)
    package private(set) var key: [UInt8]?
    package private(set) var value: [UInt8]?
    package private(set) var headers = HeaderList()

    /// Whether it lies in a topic that others write: then only their headers count.
    var isForeign: Bool { foreignTopic != nil }
    /// That topic.
    private let foreignTopic: String?
    private var foreign = ForeignHeaders()
    private let decoder: RecordDecoder
    private var event = DecodedEvent()
    private var isDecoded = false
    private var isEvent = false

    package init(decoder: RecordDecoder, foreignTopic: String? = nil) {
        self.decoder = decoder
        self.foreignTopic = foreignTopic
    }

    package mutating func fill(_ message: Message) {
        // Its room is used again.
        var list = HeaderList()
        swap(&list, &headers)
        list.removeAll()
        message.forEachHeader { list.append(name: $0, value: $1) }
        fill(
            partition: message.partition, offset: message.offset,
            timestamp: WallTime(milliseconds: message.timestampMilliseconds), key: message.keyCopy,
            value: message.valueCopy, headers: list)
    }

    package mutating func fill(
        partition: Int32, offset: Int64, timestamp: WallTime, key: [UInt8]?, value: [UInt8]?, headers: HeaderList
    ) {
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
        isDecoded = false
        if isForeign { foreign = ForeignHeaders(headers) }
    }

    /// Its place, as commands write it: `PARTITION:OFFSET`.
    package var place: String { "\(partition):\(offset)" }

    // MARK: - What headers say

    /// The text that the headers have for a field; `nil` when they have none.
    package func text(_ field: WhereField) -> String? { withHeader(of: field) { $0?.text } }

    package var pushServices: [String] { text(.pns)?.split(separator: ",").map { String($0) } ?? [] }

    /// The record that it was made of; `nil` when the headers do not say, or wrongly.
    package var origin: Origin? { text(.origin).flatMap(Origin.init) }

    /// Where the exception was thrown, as its framework has written it; `nil` of Herald's own.
    package var stackTrace: String? { foreign.stackTrace.flatMap { headers.value(at: $0)?.text } }

    /// The headers that the record had where it came from, in order; none of Herald's.
    var originalHeaders: HeaderList {
        var originals = HeaderList()
        originals.append(originalsOf: isForeign ? foreign.originals(of: headers) : headers)
        return originals
    }

    /// What it lacks because it would not have fit its topic.
    package var omissions: Omissions {
        guard !isForeign, let list = headers.lastValue(named: HeaderName.omitted.literal) else { return [] }
        return Omissions(commaSeparated: list)
    }

    /// The calls, the oldest first; none when the header is damaged.
    package var history: [AttemptEntry] {
        guard !isForeign, let history = headers.lastValue(named: HeaderName.history.literal) else { return [] }
        return AttemptHistory.decode(history)
    }

    /// A number of a header, or of its place.
    package func number(_ field: WhereField) -> Int64? {
        switch field {
        case .partition: return Int64(partition)
        case .offset: return offset
        // The one header of Herald's that counts in others' too: replays, however often what they published comes back.
        case .replays: return headers.lastValue(named: HeaderName.replays.literal)?.decimal ?? 0
        case .originTimestamp where isForeign: return foreign.originTimestamp
        case .deadLetteredAt, .age, .hour:
            let own = isForeign ? nil : headers.lastValue(named: HeaderName.deadLetteredAt.literal)?.decimal
            return own ?? timestamp.milliseconds
        default:
            guard !isForeign, let header = field.header else { return nil }
            return headers.lastValue(named: header.literal)?.decimal
        }
    }

    /// What decides what became of it: of others its own place, by which its replay's results are known, and the push
    /// services that its event names.
    package var facts: LetterFacts {
        if let foreignTopic {
            let event = value.flatMap { try? JudgedEvent($0, of: self, decoder) }
            return LetterFacts(
                partition: partition, offset: offset,
                origin: Origin(topic: foreignTopic, partition: partition, offset: offset),
                pushServices: event?.pushServices ?? [], replays: replays)
        }
        return LetterFacts(
            partition: partition, offset: offset, origin: origin, pushServices: pushServices, replays: replays)
    }

    package var deadLetteredAt: WallTime { WallTime(milliseconds: number(.deadLetteredAt) ?? 0) }

    /// How often it was replayed before it came here.
    package var replays: Int { Int(min(max(number(.replays) ?? 0, 0), Int64(Int32.max))) }

    /// Lends the text of a field; `nil` when it is not there.
    mutating func withText<Result>(of field: WhereField, _ body: (RawSpan?) -> Result) -> Result {
        if field == .user { return withUser(body) }
        return withHeader(of: field, body)
    }

    private func withHeader<Result>(of field: WhereField, _ body: (RawSpan?) -> Result) -> Result {
        if isForeign { return withForeignHeader(of: field, body) }
        if field == .topic {
            guard let origin = headers.lastValue(named: HeaderName.origin.literal) else { return body(nil) }
            for offset in 0..<origin.byteCount where origin[byteAt: offset] == 0x2F {
                return body(origin.extracting(0..<offset))
            }
            return body(origin)
        }
        guard let header = field.header else { return body(nil) }
        return body(headers.lastValue(named: header.literal))
    }

    private func withForeignHeader<Result>(of field: WhereField, _ body: (RawSpan?) -> Result) -> Result {
        let index: Int?
        switch field {
        case .topic: index = foreign.topic
        case .reason: index = foreign.exception
        case .detail: index = foreign.detail
        case .source: index = foreign.reader
        case .origin:
            guard let topic = foreign.topic.flatMap({ headers.value(at: $0)?.text }), let partition = foreign.partition,
                let offset = foreign.offset
            else { return body(nil) }
            return body(Array("\(topic)/\(partition)/\(offset)".utf8).span.bytes)
        default: index = nil
        }
        guard let index else { return body(nil) }
        return body(headers.value(at: index))
    }

    package mutating func text(of field: WhereField) -> String? { withText(of: field) { $0?.text } }

    // MARK: - What the event says

    /// When the event ends to be worth sending; `nil` when it does not say, or does not decode.
    package mutating func expiresAt() -> WallTime? {
        decode()
        return isEvent ? event.expiresAt : nil
    }

    /// The class that the event says of itself; `nil` when it says none, or does not decode.
    mutating func eventClass() -> EventClass? {
        decode()
        return isEvent ? event.eventClass : nil
    }

    /// The message; `nil` when the event does not decode.
    package mutating func message() -> String? {
        decode()
        guard isEvent, let value else { return nil }
        return event.bytes(of: event.message, value: value.span.bytes).text
    }

    /// The parts beside the message; none when the event does not decode.
    package mutating func content() -> EventContent {
        decode()
        guard isEvent, let value else { return EventContent() }
        return event.content(in: value.span.bytes)
    }

    private mutating func withUser<Result>(_ body: (RawSpan?) -> Result) -> Result {
        decode()
        if event.user.isPresent, let value { return body(event.bytes(of: event.user, value: value.span.bytes)) }
        guard let key else { return body(nil) }
        return body(key.span.bytes)
    }

    private mutating func decode() {
        guard !isDecoded else { return }
        isDecoded = true
        guard let value, !isForeign else {
            event.reset()
            isEvent = false
            return
        }
        let failure = decoder.decode(
            topicKind: .request, topic: "dead-letter", partition: partition, offset: offset, value: value.span.bytes,
            headers: headers, into: &event)
        isEvent = failure == nil
    }
}
