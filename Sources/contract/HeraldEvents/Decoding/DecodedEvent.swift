import HeraldBytes
public import HeraldTime

/// The content of a record, as places in its value; one is reused for record after record.
///
/// After a failed decoding, the readable ones of `id`, `user`, `source` and `campaign` are there, for the dead letter
/// and the result, and nothing else counts. For any record the scratch stays below ``maximumScratchBytes``.
public struct DecodedEvent: Sendable {
    /// The producer's id, or `topic/partition/offset` of the request when it gave none.
    public internal(set) var id = ByteField.absent
    /// Whether ``id`` is the producer's own: only then can the same event come again.
    public internal(set) var hasOwnID = true
    /// The user to notify.
    public internal(set) var user = ByteField.absent
    /// The message's text.
    public internal(set) var message = ByteField.absent
    /// The service or process that sent the event.
    public internal(set) var source = ByteField.absent
    /// The parts of the notification beside its message: ``content(in:)`` reads them.
    public internal(set) var content: ContentFields = []
    /// The place behind the brace of the object that they are in.
    var contentStart: Int32 = -1
    /// Whether it has members that are no fields, and that other interfaces call a part of a notification.
    public internal(set) var hasForeignFields = false
    /// The campaign that the event belongs to.
    public internal(set) var campaign = ByteField.absent
    /// What it says of its class; its topic's may be stricter.
    public internal(set) var eventClass: EventClass?
    /// The name of its user's time zone, which counts for quiet hours that name none.
    public internal(set) var zone = ByteField.absent
    /// The event's requests to its push services.
    public internal(set) var options = EventOptions()
    /// A well-formed trace context.
    public internal(set) var traceparent = ByteField.absent
    /// The replacement of the id in the idempotency key.
    public internal(set) var replayKey = ByteField.absent
    /// The push services to call: the event's own, or those of them that `herald-pns` names.
    public internal(set) var pushServices: PushServiceSet = []
    /// The JSON of `pns`, when its names differ from ``PushServices/names``.
    var otherNames = ByteField.absent
    /// The event is never sent after this.
    public internal(set) var expiresAt: WallTime?
    /// The event is never sent before this.
    public internal(set) var notBefore: WallTime?
    /// The calls made so far for each of the push services.
    public internal(set) var attempts = 0
    /// How often the event was replayed.
    public internal(set) var replays = 0
    /// When the first call was made.
    public internal(set) var firstAttemptAt: WallTime?
    /// When a retry record is due.
    public internal(set) var dueAt: WallTime?
    /// Whether that is the end of its user's quiet hours.
    public internal(set) var isHeldForQuietHours = false
    /// The request's timestamp, when a header carries it; absent for this record's own.
    public internal(set) var originTimestamp: WallTime?
    /// The request as `topic/partition/offset`, when a header carries it; absent when this record is the request.
    public internal(set) var origin = ByteField.absent
    /// The topic in `origin`; absent when this record is the request.
    public internal(set) var originTopic = ByteField.absent
    /// The request's partition, this record's own when `origin` is absent.
    public internal(set) var originPartition: Int32 = 0
    /// The request's offset, this record's own when `origin` is absent.
    public internal(set) var originOffset: Int64 = 0
    /// The status of the last answer.
    public internal(set) var lastStatus: Int?
    /// The parts of the publisher's record omitted for lack of room in a topic on its way.
    public internal(set) var omissions: Omissions = []
    /// The attempts so far, a JSON array that was not checked.
    public internal(set) var history = ByteField.absent
    /// The bytes that are not literally in the value: unescaped, or from headers.
    public internal(set) var scratch: [UInt8] = []

    /// The most bytes in ``scratch``.
    public static let maximumScratchBytes = 24_576

    /// An empty event.
    public init() {}

    /// An event with only the fields that a call needs, owning all of its bytes.
    ///
    /// - Parameter other: the event in whose value ``content`` is; `nil` without any.
    package init(id: String, user: String, message: String, contentOf other: DecodedEvent? = nil) {
        if let other { (content, contentStart) = (other.content, other.contentStart) }
        self.id = keep(Array(id.utf8).span.bytes)
        self.user = keep(Array(user.utf8).span.bytes)
        self.message = keep(Array(message.utf8).span.bytes)
    }

    /// Forgets everything except the memory.
    public mutating func reset() {
        var kept: [UInt8] = []
        swap(&kept, &scratch)
        kept.removeAll(keepingCapacity: true)
        self = DecodedEvent()
        swap(&kept, &scratch)
    }

    /// Frees the scratch buffer's memory when it has grown beyond this many bytes; the event is unusable afterwards.
    public mutating func releaseMemory(above limit: Int) {
        if scratch.capacity > limit { scratch = [] }
    }

    /// The bytes of a field, which lie in the record's value or in this event; none when the field is absent.
    @_lifetime(borrow self, copy value)
    public func bytes(of field: ByteField, value: RawSpan) -> RawSpan {
        guard field.isPresent else { return value.extracting(0..<0) }
        let range = Int(field.start)..<Int(field.start) + Int(field.count)
        return field.isInScratch ? scratch.span.bytes.extracting(range) : value.extracting(range)
    }

    /// Keeps a copy of the bytes.
    mutating func keep(_ bytes: RawSpan) -> ByteField {
        let start = scratch.count
        scratch.append(copying: bytes)
        return ByteField(start: start, count: bytes.byteCount, isInScratch: true)
    }

    /// The text of a string in the value, unless it has more bytes than `limit`: then nothing is kept.
    mutating func field(_ token: JSONToken, in value: RawSpan, atMost limit: Int) -> ByteField? {
        token.textByteCount(in: value, upTo: limit) <= limit ? field(token, in: value) : nil
    }

    /// The text of a string in the value: its place there, or in the scratch when it has escapes.
    mutating func field(_ token: JSONToken, in value: RawSpan) -> ByteField {
        guard token.hasEscapes else {
            return ByteField(start: Int(token.start), count: token.range.count, isInScratch: false)
        }
        let start = scratch.count
        JSONEscapes.append(value.extracting(token.range), to: &scratch)
        return ByteField(start: start, count: scratch.count - start, isInScratch: true)
    }
}

/// Where the bytes of an event's field are: in the record's value, where they were read, or in the event's scratch.
public struct ByteField: Equatable, Sendable {
    /// The offset of the first byte; negative when the field is absent.
    public let start: Int32
    /// The number of bytes.
    public let count: Int32
    /// Whether the bytes are in the event's scratch buffer and not in the record's value.
    public let isInScratch: Bool

    /// A field that the event does not have.
    public static let absent = ByteField(start: -1, count: 0, isInScratch: false)

    /// A field's place.
    public init(start: Int, count: Int, isInScratch: Bool) {
        self.start = Int32(truncatingIfNeeded: start)
        self.count = Int32(truncatingIfNeeded: count)
        self.isInScratch = isInScratch
    }

    /// Whether the event has the field.
    public var isPresent: Bool { start >= 0 }
}
