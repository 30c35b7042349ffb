import HeraldBytes
import HeraldTime

extension RecordDecoder {
    /// Reads the headers that count on this kind of topic, except `herald-pns`, which needs the event's own list.
    func readHeaders(
        _ headers: HeaderList, topicKind: TopicKind, topic: String, into event: inout DecodedEvent
    ) throws(DecodingFailure) {
        if headers.lastIndex(named: HeaderName.origin.literal) != nil {
            guard let text = headers.lastValue(named: HeaderName.origin.literal), let place = OriginPlace(text) else {
                throw Self.wrong(.origin, "topic/partition/offset")
            }
            if topicKind == .request, isForged(text.extracting(0..<place.topicByteCount), in: topic) { return }
            event.origin = event.keep(text)
            event.originTopic = ByteField(
                start: Int(event.origin.start), count: place.topicByteCount, isInScratch: true)
            event.originPartition = place.partition
            event.originOffset = place.offset
        }
        event.replays = Int(try number(.replays, in: headers, 0...Int64(Int32.max)) ?? 0)
        if let text = headers.lastValue(named: HeaderName.history.literal),
            text.byteCount <= AttemptHistory.maximumByteCount
        {
            event.history = event.keep(text)
        }
        if let key = try identifier(.key, in: headers, into: &event) { event.replayKey = key }
        guard topicKind == .retry else { return }

        if let list = headers.lastValue(named: HeaderName.omitted.literal) {
            event.omissions = Omissions(commaSeparated: list)
        }
        if let id = try identifier(.id, in: headers, into: &event) { event.id = id }
        event.attempts = Int(try number(.attempts, in: headers, 0...Int64(Int32.max)) ?? 0)
        event.originTimestamp = try time(.originTimestamp, in: headers)
        event.firstAttemptAt = try time(.firstAttemptAt, in: headers)
        event.dueAt = try time(.notBefore, in: headers)
        event.isHeldForQuietHours =
            headers.lastValue(named: HeaderName.reason.literal)?
            .hasSameBytes(as: RetryReason.quietHours.rawValue.utf8.span.bytes) ?? false
        event.lastStatus = try number(.status, in: headers, 100...599).map { Int($0) }
    }

    /// Whether a record of this topic claims to be the replay of a record in another request topic.
    ///
    /// A publisher to one topic could report outcomes of another topic's events that way. Replays go to their origin's
    /// topic; only those of a topic that is no longer read go elsewhere.
    private func isForged(_ originTopic: RawSpan, in topic: String) -> Bool {
        guard !originTopic.hasSameBytes(as: topic.utf8.span.bytes) else { return false }
        return requestTopics.contains { originTopic.hasSameBytes(as: $0.utf8.span.bytes) }
    }

    /// Leaves only the push services that `herald-pns` names, which have to be the event's own.
    func restrictPushServices(_ headers: HeaderList, into event: inout DecodedEvent) throws(DecodingFailure) {
        guard headers.lastIndex(named: HeaderName.pushServices.literal) != nil else { return }
        guard let list = headers.lastValue(named: HeaderName.pushServices.literal),
            let set = pushServices.set(commaSeparated: list), set.isSubset(of: event.pushServices)
        else { throw Self.wrong(.pushServices, "some of the event's own push services, separated by commas") }
        event.pushServices = set
    }

    /// Keeps the first trace context that is well formed: the record's, or that of the CloudEvent.
    func keepTraceparent(_ headers: HeaderList, token: JSONToken, value: RawSpan, into event: inout DecodedEvent) {
        if headers.count > 0, let text = headers.lastValue(named: HeaderName.traceparent.literal),
            TraceContext(text) != nil
        {
            event.traceparent = event.keep(text)
        } else if headers.count > 0,
            let text = headers.lastValue(named: HeaderName.cloudEventsTraceparent.literal), TraceContext(text) != nil
        {
            event.traceparent = event.keep(text)
        } else if token.kind == .string, TraceContext(value.extracting(token.range)) != nil {
            event.traceparent = event.field(token, in: value)
        }
    }

    private static func wrong(_ name: HeaderName, _ rule: String) -> DecodingFailure {
        .invalid("the header \(name) is wrong; it has to hold \(rule)")
    }

    private func number(
        _ name: HeaderName, in headers: HeaderList, _ range: ClosedRange<Int64>
    ) throws(DecodingFailure) -> Int64? {
        guard headers.lastIndex(named: name.literal) != nil else { return nil }
        guard let number = headers.lastValue(named: name.literal)?.decimal, range.contains(number) else {
            throw Self.wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func time(_ name: HeaderName, in headers: HeaderList) throws(DecodingFailure) -> WallTime? {
        guard let milliseconds = try number(name, in: headers, 0...RFC3339.latest.milliseconds) else { return nil }
        return WallTime(milliseconds: milliseconds)
    }

    /// An id or its replacement: of an id's length, or `topic/partition/offset`.
    private func identifier(
        _ name: HeaderName, in headers: HeaderList, into event: inout DecodedEvent
    ) throws(DecodingFailure) -> ByteField? {
        guard headers.lastIndex(named: name.literal) != nil else { return nil }
        guard let text = headers.lastValue(named: name.literal), isIDLength(text) || OriginPlace(text) != nil else {
            throw Self.wrong(name, "1 to \(Self.maximumIDCharacters) characters of UTF-8")
        }
        return event.keep(text)
    }
}
