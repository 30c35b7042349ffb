internal import HeraldBytes
internal import HeraldEvents

/// What the headers of a foreign dead letter say: their places, found in one pass.
///
/// Spring Kafka and Kafka Connect keep a record's own headers and add theirs. A record that went through both has both; what
/// was added last tells where it came from.
struct ForeignHeaders: Sendable {
    enum Writer: Sendable {
        case spring
        case connect
    }

    private static let springPrefix: StaticString = "kafka_dlt-"
    private static let springOriginPrefix: StaticString = "kafka_dlt-original-"
    private static let connectPrefix: StaticString = "__connect.errors."
    /// What Spring's retry topics count with, and what its deserializer leaves behind: both would end the next attempt.
    private static let springLeftovers: [StaticString] = ["retry_topic-", "springDeserializerException"]
    /// Exceptions that only wrap another one, which says what happened.
    private static let wrappers: [StaticString] = [
        "org.springframework.kafka.listener.ListenerExecutionFailedException",
        "org.springframework.kafka.listener.TimestampedException",
    ]

    private(set) var writer: Writer?
    private(set) var topic: Int?
    private(set) var partition: Int32?
    private(set) var offset: Int64?
    /// When the record was published, epoch milliseconds.
    private(set) var originTimestamp: Int64?
    /// The header with the exception's class.
    private(set) var exception: Int?
    /// The header with the exception's message.
    private(set) var detail: Int?
    /// The header with the consumer group or the connector.
    private(set) var reader: Int?
    private(set) var stackTrace: Int?

    init() {}

    init(_ headers: HeaderList) {
        let spring = headers.lastIndex(named: "kafka_dlt-original-topic")
        let connect = headers.lastIndex(named: "__connect.errors.topic")
        guard let last = [spring, connect].compactMap({ $0 }).max() else { return }
        topic = last
        if last == spring { readSpring(headers) } else { readConnect(headers) }
    }

    private mutating func readSpring(_ headers: HeaderList) {
        writer = .spring
        partition = headers.lastValue(named: "kafka_dlt-original-partition")?.bigEndian(byteCount: 4)
            .flatMap { Int32(exactly: $0) }
        offset = headers.lastValue(named: "kafka_dlt-original-offset")?.bigEndian(byteCount: 8)
        originTimestamp = headers.lastValue(named: "kafka_dlt-original-timestamp")?.bigEndian(byteCount: 8)
        exception =
            headers.lastIndex(named: "kafka_dlt-exception-fqcn")
            ?? headers.lastIndex(named: "kafka_dlt-key-exception-fqcn")
        if let index = exception, let name = headers.value(at: index),
            Self.wrappers.contains(where: { name.hasSameBytes(as: $0) })
        {
            exception = headers.lastIndex(named: "kafka_dlt-exception-cause-fqcn") ?? index
        }
        detail =
            headers.lastIndex(named: "kafka_dlt-exception-message")
            ?? headers.lastIndex(named: "kafka_dlt-key-exception-message")
        stackTrace =
            headers.lastIndex(named: "kafka_dlt-exception-stacktrace")
            ?? headers.lastIndex(named: "kafka_dlt-key-exception-stacktrace")
        reader = headers.lastIndex(named: "kafka_dlt-original-consumer-group")
    }

    private mutating func readConnect(_ headers: HeaderList) {
        writer = .connect
        partition = headers.lastValue(named: "__connect.errors.partition")?.decimal.flatMap { Int32(exactly: $0) }
        offset = headers.lastValue(named: "__connect.errors.offset")?.decimal
        exception = headers.lastIndex(named: "__connect.errors.exception.class.name")
        detail = headers.lastIndex(named: "__connect.errors.exception.message")
        stackTrace = headers.lastIndex(named: "__connect.errors.exception.stacktrace")
        reader = headers.lastIndex(named: "__connect.errors.connector.name")
    }

    /// Whether the record had this header where it came from.
    func isOriginal(_ index: Int, in headers: HeaderList) -> Bool {
        let name = headers.name(at: index)
        switch writer {
        case .connect: return !name.begins(with: Self.connectPrefix)
        case .spring:
            if Self.springLeftovers.contains(where: { name.begins(with: $0) }) { return false }
            guard name.begins(with: Self.springPrefix) else { return true }
            guard name.begins(with: Self.springOriginPrefix) else { return false }
            // A dead letter that failed once more has one of each time: the earlier one was there.
            for later in index + 1..<headers.count where headers.name(at: later).hasSameBytes(as: name) { return true }
            return false
        case nil: return true
        }
    }
}

extension RawSpan {
    /// A number as Java's `ByteBuffer` writes it; `nil` when it is no number of so many bytes, or negative.
    fileprivate func bigEndian(byteCount wanted: Int) -> Int64? {
        guard byteCount == wanted, wanted > 0, self[byteAt: 0] & 0x80 == 0 else { return nil }
        var number: Int64 = 0
        for offset in 0..<wanted { number = number << 8 | Int64(self[byteAt: offset]) }
        return number
    }

    fileprivate func begins(with prefix: StaticString) -> Bool {
        byteCount >= prefix.utf8CodeUnitCount && extracting(0..<prefix.utf8CodeUnitCount).hasSameBytes(as: prefix)
    }
}
