import HeraldBytes

/// Turns records into events, and says what is wrong with those that are none.
///
/// Nothing is allocated in the steady state for a record that is an event.
public struct RecordDecoder: Sendable {
    /// What kind of topic a record comes from, which decides the headers that count.
    public enum TopicKind: Sendable {
        /// Producers write here; of Herald's headers only a replay's are honoured.
        case request
        /// Only Herald writes here; all of its headers are honoured.
        case retry
    }

    /// The most bytes of UTF-8 that a message has.
    public static let maximumMessageBytes = 4_096
    /// The most characters that an id has.
    public static let maximumIDCharacters = 128

    /// A user that breaks the rule is shown in the result up to this length.
    private static let maximumFailedUserBytes = 512

    /// The push services that events may name.
    public let pushServices: PushServices
    /// The most bytes that a record's value has.
    public let maxEventBytes: Int

    /// A decoder for these push services.
    public init(pushServices: PushServices = .standard, maxEventBytes: Int = 65_536) {
        self.pushServices = pushServices
        self.maxEventBytes = maxEventBytes
    }

    /// Reads a record; the answer is nothing when it is an event, which then stands in `event`.
    ///
    /// A record without a value is no event: leave it out before.
    public func decode(
        topicKind: TopicKind, topic: String, partition: Int32, offset: Int64, value: RawSpan, headers: HeaderList,
        into event: inout DecodedEvent
    ) -> DecodingFailure? {
        event.reset()
        event.originPartition = partition
        event.originOffset = offset
        do throws(DecodingFailure) {
            var tokens = EventTokens()
            let form = try RecordForm(headers: headers)
            if form == .binary { try readBinaryEnvelope(headers, into: &event) }
            guard value.byteCount <= maxEventBytes else {
                throw .oversized("the value has \(value.byteCount) bytes; at most \(maxEventBytes) are allowed")
            }
            try readTokens(form: form, value: value, tokens: &tokens, into: &event)
            readIdentity(form: form, tokens: tokens, value: value, into: &event)
            if form == .structured { try checkEnvelope(tokens: tokens, value: value) }
            if headers.count > 0 { try readHeaders(headers, topicKind: topicKind, into: &event) }
            if !event.id.isPresent {
                try checkID(form: form, token: tokens[.id])
                setDefaultID(topic: topic, partition: partition, offset: offset, into: &event)
            }
            try readFields(tokens: tokens, value: value, into: &event)
            if headers.count > 0 { try restrictPushServices(headers, into: &event) }
            keepTraceparent(headers, token: tokens[.traceparent], value: value, into: &event)
            return nil
        } catch {
            if event.user.count > Self.maximumFailedUserBytes { event.user = .absent }
            return error
        }
    }

    private func setDefaultID(topic: String, partition: Int32, offset: Int64, into event: inout DecodedEvent) {
        event.hasOwnID = false
        if event.origin.isPresent {
            event.id = event.origin
            return
        }
        let start = event.scratch.count
        event.scratch.append(contentsOf: topic.utf8)
        event.scratch.append(0x2F)
        event.scratch.append(decimal: Int64(partition))
        event.scratch.append(0x2F)
        event.scratch.append(decimal: offset)
        event.id = ByteField(start: start, count: event.scratch.count - start, isInScratch: true)
    }
}
