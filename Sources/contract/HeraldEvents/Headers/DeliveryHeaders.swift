import HeraldBytes
public import HeraldTime

/// The headers of the retry records and dead letters that an event causes.
public struct DeliveryHeaders: Sendable {
    /// The record's destination, with the facts specific to it.
    public enum Destination: Equatable, Sendable {
        /// To a retry topic, due at a moment.
        case retry(RetryReason, dueAt: WallTime)
        /// To the dead-letter topic, now.
        case deadLetter(DeadLetterReason, at: WallTime)
    }

    /// The record's destination.
    public var destination: Destination
    /// The push services that are still to do, or that failed; none for an event that does not decode.
    public var pushServices: PushServiceSet
    /// The calls made so far for each of them.
    public var attempts: Int
    /// The request record's timestamp, if it has one.
    public var originTimestamp: WallTime?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// The status of the last answer.
    public var status: Int?
    /// The parts to omit, of the headers and of the record's key and value.
    public var omissions: Omissions

    /// The most bytes of all of Herald's headers, names included, for any record.
    public static let maximumByteCount = 16_384

    /// The headers' facts.
    public init(
        destination: Destination, pushServices: PushServiceSet, attempts: Int, originTimestamp: WallTime?,
        firstAttemptAt: WallTime? = nil, status: Int? = nil, omissions: Omissions = []
    ) {
        self.destination = destination
        self.pushServices = pushServices
        self.attempts = attempts
        self.originTimestamp = originTimestamp
        self.firstAttemptAt = firstAttemptAt
        self.status = status
        self.omissions = omissions
    }

    /// Appends the record's own headers in their order, without those that Herald replaces, and then Herald's.
    ///
    /// The detail is made one line of at most 1 KiB; the history is written as it is, and left out when it is empty.
    ///
    /// - Parameter keyByteCount: the length of the record's key.
    /// - Returns: the parts omitted from those present: the caller has to omit the key and the value.
    @discardableResult
    public func append(
        for event: DecodedEvent, keyByteCount: Int = 0, value: RawSpan, recordTopic: String, original: HeaderList,
        services: PushServices, detail: RawSpan, history: RawSpan, to output: inout HeaderList
    ) -> Omissions {
        var omitted = omissions.intersection(.value)
        if !omissions.contains(.headers) {
            output.append(originalsOf: original)
        } else if output.append(neededOf: original) {
            omitted.insert(.headers)
        }
        if omissions.contains(.key), keyByteCount > Omissions.longestKey { omitted.insert(.key) }
        output.append(.id, event.id, of: event, value: value)
        if !pushServices.isEmpty {
            output.append(name: HeaderName.pushServices.literal) {
                services.appendNames(of: pushServices, to: &$0)
            }
        }
        output.append(name: HeaderName.attempts.literal, decimal: Int64(attempts))
        output.append(name: HeaderName.origin.literal) {
            event.appendOrigin(value: value, recordTopic: recordTopic, to: &$0)
        }
        // Kafka writes a record without a timestamp as -1.
        if let originTimestamp, originTimestamp.milliseconds >= 0 { output.append(.originTimestamp, originTimestamp) }
        if let firstAttemptAt { output.append(.firstAttemptAt, firstAttemptAt) }
        switch destination {
        case .retry(let reason, let dueAt):
            output.append(.notBefore, dueAt)
            output.append(HeaderName.reason, reason.rawValue)
        case .deadLetter(let reason, let moment):
            output.append(.deadLetteredAt, moment)
            output.append(HeaderName.reason, reason.rawValue)
        }
        if let status { output.append(name: HeaderName.status.literal, decimal: Int64(status)) }
        if detail.byteCount > 0, omissions.contains(.detail) {
            omitted.insert(.detail)
        } else if detail.byteCount > 0 {
            output.append(name: HeaderName.detail.literal) { DetailText.append(detail, to: &$0) }
        }
        if history.byteCount > 0, omissions.contains(.history) {
            omitted.insert(.history)
        } else if history.byteCount > 0 {
            output.append(name: HeaderName.history.literal, value: history)
        }
        output.append(.source, event.source, of: event, value: value)
        output.append(.campaign, event.campaign, of: event, value: value)
        if event.replays > 0 { output.append(name: HeaderName.replays.literal, decimal: Int64(event.replays)) }
        output.append(.key, event.replayKey, of: event, value: value)
        // A record has a detail of its own; other parts lost on the way are lost to it too.
        let all = omitted.union(event.omissions.subtracting(.detail))
        if !all.isEmpty { output.append(name: HeaderName.omitted.literal) { all.append(to: &$0) } }
        return omitted
    }
}

extension HeaderList {
    /// Appends all headers of the other list in their order, except those that Herald writes itself.
    public mutating func append(originalsOf original: HeaderList) {
        for index in 0..<original.count where !HeaderName.isHeralds(original.name(at: index)) {
            append(name: original.name(at: index), value: original.value(at: index))
        }
    }

    fileprivate mutating func append(
        _ name: HeaderName, _ field: ByteField, of event: DecodedEvent, value: RawSpan
    ) {
        guard field.isPresent else { return }
        append(name: name.literal, value: event.bytes(of: field, value: value))
    }

    /// A moment outside the range of headers is written as the nearest one inside.
    fileprivate mutating func append(_ name: HeaderName, _ moment: WallTime) {
        append(name: name.literal, decimal: min(max(moment.milliseconds, 0), RFC3339.latest.milliseconds))
    }

    fileprivate mutating func append(_ name: HeaderName, _ text: String) {
        append(name: name.literal, value: text.utf8.span.bytes)
    }
}

extension HeaderName {
    /// Whether this is the name of a header that Herald writes.
    static func isHeralds(_ name: RawSpan) -> Bool {
        guard name.byteCount > 7, name.extracting(0..<7).hasSameBytes(as: "herald-") else { return false }
        return all.contains { name.hasSameBytes(as: $0.literal) }
    }
}

extension DecodedEvent {
    /// Appends the request as `topic/partition/offset`.
    public func appendOrigin(value: RawSpan, recordTopic: String, to output: inout [UInt8]) {
        if origin.isPresent {
            output.append(copying: bytes(of: origin, value: value))
            return
        }
        output.append(contentsOf: recordTopic.utf8)
        output.append(UInt8(ascii: "/"))
        output.append(decimal: Int64(originPartition))
        output.append(UInt8(ascii: "/"))
        output.append(decimal: originOffset)
    }
}
