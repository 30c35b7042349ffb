import HeraldBytes
public import HeraldText

/// Turns records into events, and reports the faults of other records.
///
/// Nothing is allocated in the steady state for a record that is an event.
public struct RecordDecoder: Sendable {
    /// The kind of a record's topic, which decides the headers that count.
    public enum TopicKind: Sendable {
        /// Producers write here; of Herald's headers only a replay's are honoured, and only when its origin may be a
        /// record here.
        case request
        /// Only Herald writes here; all of its headers are honoured.
        case retry
    }

    /// The most bytes of UTF-8 that a message has.
    public static let maximumMessageBytes = 4_096
    /// The most characters that an id has.
    public static let maximumIDCharacters = 128

    /// The most bytes of UTF-8 that a source has.
    public static let maximumSourceBytes = 1_024
    /// The most bytes of UTF-8 that a campaign has.
    public static let maximumCampaignBytes = 256
    /// The most bytes of UTF-8 that the type of a binary CloudEvent has.
    public static let maximumTypeBytes = 1_024

    /// The most bytes of an invalid user that the result shows.
    static let maximumKnownUserBytes = 256

    /// The push services that events may name.
    public let pushServices: PushServices
    /// The most bytes that a record's value has.
    public let maxEventBytes: Int
    /// The topics that producers write to: a record of one of them cannot name another of them as its origin.
    public let requestTopics: [String]
    /// The rule for users.
    public let users: UserRule

    /// A decoder for these push services and users.
    public init(
        pushServices: PushServices = .standard, maxEventBytes: Int = 65_536, requestTopics: [String] = [],
        users: UserRule = .tag
    ) {
        self.pushServices = pushServices
        self.maxEventBytes = maxEventBytes
        self.requestTopics = requestTopics
        self.users = users
    }

    /// Reads a record; returns nil for an event, which is then in `event`.
    ///
    /// A record without a value is no event: leave it out before.
    public func decode(
        topicKind: TopicKind, topic: String, partition: Int32, offset: Int64, value: RawSpan, headers: HeaderList,
        into event: inout DecodedEvent
    ) -> DecodingFailure? {
        event.reset()
        event.originPartition = partition
        event.originOffset = offset
        var tokens = EventTokens()
        var form = RecordForm.plain
        // The progress: an invalid value is read only once, too.
        var wasRead = false
        var isIdentified = false
        var hasReadHeaders = headers.count == 0
        do throws(DecodingFailure) {
            form = try RecordForm(headers: headers)
            if form == .binary { try readBinaryEnvelope(headers, into: &event) }
            guard value.byteCount <= maxEventBytes else {
                throw .oversized("the value has \(value.byteCount) bytes; at most \(maxEventBytes) are allowed")
            }
            wasRead = true
            try readTokens(form: form, value: value, tokens: &tokens, into: &event)
            isIdentified = true
            readIdentity(form: form, tokens: &tokens, value: value, into: &event)
            if form == .structured { try checkEnvelope(tokens: &tokens, value: value) }
            if !hasReadHeaders {
                hasReadHeaders = true
                try readHeaders(headers, topicKind: topicKind, topic: topic, into: &event)
            }
            if !event.id.isPresent {
                try checkID(form: form, token: tokens[.id])
                setDefaultID(topic: topic, partition: partition, offset: offset, into: &event)
            }
            try readFields(tokens: &tokens, value: value, into: &event)
            if headers.count > 0 { try restrictPushServices(headers, into: &event) }
            keepTraceparent(headers, token: tokens[.traceparent], value: value, into: &event)
            return nil
        } catch {
            if !wasRead {
                let part = value.extracting(0..<min(value.byteCount, maxEventBytes))
                try? readTokens(form: form, value: part, tokens: &tokens, into: &event)
            }
            if !isIdentified { readIdentity(form: form, tokens: &tokens, value: value, into: &event) }
            // The replay of an undecodable event stands for the same request, too.
            if !hasReadHeaders { try? readHeaders(headers, topicKind: topicKind, topic: topic, into: &event) }
            return Self.hinting(error, form, value: value, headers)
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

/// The reason why a record is no event that can be sent; it becomes a dead letter.
public struct DecodingFailure: Error, Equatable, Sendable {
    /// The class of the mistake: `malformed`, `invalid`, `oversized` or `unreadable`.
    public let reason: DeadLetterReason
    /// A sentence for people: what is wrong, where, and what is allowed; without the message's text.
    public let detail: String

    /// These offsets are unreadable, for this reason.
    public static func unreadable(_ offsets: Range<Int64>, _ reason: String) -> Self {
        let last = offsets.upperBound - 1
        let which = offsets.count == 1 ? "offset \(last)" : "offsets \(offsets.lowerBound) to \(last)"
        return Self(reason: .unreadable, detail: "\(which) can't be read: \(reason)")
    }

    static func malformed(_ detail: String) -> Self { Self(reason: .malformed, detail: detail) }
    static func invalid(_ detail: String) -> Self { Self(reason: .invalid, detail: detail) }
    static func oversized(_ detail: String) -> Self { Self(reason: .oversized, detail: detail) }
}
