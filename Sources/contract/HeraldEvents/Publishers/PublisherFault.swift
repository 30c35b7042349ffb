import HeraldBytes

/// A publisher's deviation from the contract although its event is sent: it has no immediate effect.
///
/// A record counts once, with the first of its faults in this order.
public enum PublisherFault: String, Hashable, Sendable, CaseIterable {
    /// The record has no key, or an empty one.
    case noKey = "no-key"
    /// The key is not the event's user.
    case keyNotUser = "key-not-user"
    /// The key is the user, and the record does not lie where murmur2 puts it.
    case partitioner
    /// Its headers are those of a CloudEvent over HTTP (`ce-`), which are not read.
    case headers = "http-headers"
    /// It is a binary CloudEvent whose headers were written as JSON, in quotes.
    case quotedHeaders = "quoted-headers"
    /// Its event has members that are no fields, and that other interfaces call a part of a notification, such as
    /// `imageUrl`.
    case foreignFields = "foreign-fields"

    /// The fault of a user's record; `nil` when there is none, or none is certain.
    static func of(
        key: RawSpan?, user: RawSpan, partition: Int32, of count: Int, headers: borrowing HeaderList
    ) -> PublisherFault? {
        if count > 1 {
            guard let key, key.byteCount > 0 else { return .noKey }
            guard key.hasSameBytes(as: user) else { return .keyNotUser }
            guard KeyPartition.mayLie(key, in: partition, count: count) else { return .partitioner }
        }
        return headers.count > 0 ? of(headers) : nil
    }

    private static func of(_ headers: HeaderList) -> PublisherFault? {
        // No URI holds a quotation mark.
        if headers.hasQuotedSource, (try? RecordForm(headers: headers)) == .binary { return .quotedHeaders }
        guard headers.isOfHTTP, (try? RecordForm(headers: headers)) == .plain else { return nil }
        return .headers
    }

    /// The records' fault, as the continuation of a sentence.
    public var words: String {
        switch self {
        case .noKey: "have no key"
        case .keyNotUser: "have a key that is not their user"
        case .partitioner: "do not lie where murmur2 puts their key"
        case .headers: "have headers that begin with ce-, as over HTTP"
        case .quotedHeaders: "have CloudEvents' headers in quotes"
        case .foreignFields: "have parts of the notification under names that are no fields"
        }
    }

    /// The same for one record.
    package var wordsOfOne: String {
        switch self {
        case .noKey: "has no key"
        case .keyNotUser: "has a key that is not its user"
        case .partitioner: "does not lie where murmur2 puts its key"
        case .headers: "has headers that begin with ce-, as over HTTP"
        case .quotedHeaders: "has CloudEvents' headers in quotes"
        case .foreignFields: "has parts of the notification under names that are no fields"
        }
    }

    /// Whether the record's key is not its user: what Herald writes of it has that key, and may lie elsewhere than the user's.
    package var isOfKey: Bool {
        switch self {
        case .noKey, .keyNotUser: true
        case .partitioner, .headers, .quotedHeaders, .foreignFields: false
        }
    }

    /// The fault's consequence.
    public var consequence: String {
        switch self {
        case .noKey, .keyNotUser, .partitioner:
            "a user's events may lie in several partitions, their order is not kept, and one that comes twice may be "
                + "sent twice"
        case .quotedHeaders: "the quotes are a part of the id and source, which results and duplicates go by"
        case .headers: "they are read as plain events, so that a CloudEvent's id, source and time are lost"
        case .foreignFields: "they are ignored, and people do not get them"
        }
    }

    /// The remedy for their publisher.
    public var remedy: String {
        switch self {
        case .noKey, .keyNotUser: "have their publisher set the event's user as the key"
        case .partitioner: "have their publisher set partitioner=murmur2_random (librdkafka), or Java's default"
        case .headers: "have their publisher write ce_id, ce_source and so on, as CloudEvents over Kafka do"
        case .quotedHeaders: "have their publisher write headers as plain text, not as JSON"
        case .foreignFields:
            "have their publisher use title, link, image and data; herald publish --check says which belongs where"
        }
    }
}

extension DecodedEvent {
    /// The fault of the request record that this was decoded from; `nil` when there is none, or none is certain.
    ///
    /// A replay is Herald's own record, with the key of the publisher's.
    ///
    /// - Parameter count: the topic's number of partitions; 0 when unknown. With one partition a key chooses nothing.
    public func publisherFault(
        key: RawSpan?, value: RawSpan, partition: Int32, of count: Int, headers: borrowing HeaderList
    ) -> PublisherFault? {
        if origin.isPresent { return nil }
        let found = PublisherFault.of(
            key: key, user: bytes(of: user, value: value), partition: partition, of: count, headers: headers)
        return found ?? (hasForeignFields ? .foreignFields : nil)
    }

    /// The same for a copied record; no key is as bad as an empty one.
    package func publisherFault(
        key: [UInt8]?, value: [UInt8], partition: Int32, of count: Int, headers: borrowing HeaderList
    ) -> PublisherFault? {
        let key = key ?? []
        return publisherFault(
            key: key.span.bytes, value: value.span.bytes, partition: partition, of: count, headers: headers)
    }
}

extension HeaderList {
    /// Whether any header's name begins as those of CloudEvents over HTTP do.
    var isOfHTTP: Bool {
        (0..<count).contains { index in
            let name = name(at: index)
            return name.byteCount > 3 && name.extracting(0..<3).hasSameBytes(inAnyCaseAs: "ce-")
        }
    }

    /// Whether the source of a binary CloudEvent is there in quotes.
    var hasQuotedSource: Bool {
        guard let source = lastValue(named: HeaderName.cloudEventsSource.literal), source.byteCount > 1 else {
            return false
        }
        return source[byteAt: 0] == UInt8(ascii: "\"") && source[byteAt: source.byteCount - 1] == UInt8(ascii: "\"")
    }
}
