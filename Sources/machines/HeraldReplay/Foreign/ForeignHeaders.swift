internal import HeraldBytes
internal import HeraldEvents

/// What the headers of a foreign dead letter say: their places, found in one pass.
///
/// Spring Kafka (`DeadLetterPublishingRecoverer`, `@RetryableTopic`) and Kafka Connect keep a record's own headers and add
/// theirs. A record that went through both has both; what was added last tells where it came from.
struct ForeignHeaders: Sendable {
    enum Writer: Sendable {
        case spring
        case connect
    }

    /// Spring's recoverer begins its headers' names with the first, its retry topics with the second; both mix in one record.
    private static let springPrefixes: [StaticString] = ["kafka_dlt-", "kafka_"]
    /// What follows the prefix: an application's own headers may begin with `kafka_`, too.
    private static let springKinds: [StaticString] = ["original-", "exception-", "key-exception-"]
    private static let connectPrefix: StaticString = "__connect.errors."
    /// What Spring's retry topics and its containers count with, and what its deserializer leaves behind: they would end
    /// the next attempt.
    private static let springLeftovers: [StaticString] = [
        "retry_topic-", "kafka_deliveryAttempt", "springDeserializerException",
    ]
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
        let spring = Self.lastOfSpring("original-topic", in: headers)
        let connect = headers.lastIndex(named: "__connect.errors.topic")
        guard let last = [spring, connect].compactMap({ $0 }).max() else { return }
        topic = last
        if last == spring { readSpring(headers) } else { readConnect(headers) }
    }

    private mutating func readSpring(_ headers: HeaderList) {
        func last(_ names: StaticString...) -> Int? {
            for name in names { if let index = Self.lastOfSpring(name, in: headers) { return index } }
            return nil
        }
        func number(_ name: StaticString, byteCount: Int) -> Int64? {
            last(name).flatMap { headers.value(at: $0)?.bigEndian(byteCount: byteCount) }
        }
        writer = .spring
        partition = number("original-partition", byteCount: 4).flatMap { Int32(exactly: $0) }
        offset = number("original-offset", byteCount: 8)
        originTimestamp = number("original-timestamp", byteCount: 8)
        exception = last("exception-fqcn", "key-exception-fqcn")
        if let index = exception, let name = headers.value(at: index),
            Self.wrappers.contains(where: { name.hasSameBytes(as: $0) })
        {
            exception = last("exception-cause-fqcn") ?? index
        }
        detail = last("exception-message", "key-exception-message")
        stackTrace = last("exception-stacktrace", "key-exception-stacktrace")
        reader = last("original-consumer-group")
    }

    /// The last header that has this name behind one of Spring's prefixes.
    private static func lastOfSpring(_ name: StaticString, in headers: HeaderList) -> Int? {
        for index in stride(from: headers.count - 1, through: 0, by: -1) {
            let whole = headers.name(at: index)
            guard let start = springPrefixCount(whole) else { continue }
            if whole.extracting(start..<whole.byteCount).hasSameBytes(as: name) { return index }
        }
        return nil
    }

    /// How many bytes of a name are Spring's prefix; `nil` when Spring has not written the header.
    private static func springPrefixCount(_ name: RawSpan) -> Int? {
        for prefix in springPrefixes where name.begins(with: prefix) {
            let rest = name.extracting(prefix.utf8CodeUnitCount..<name.byteCount)
            if springKinds.contains(where: { rest.begins(with: $0) }) { return prefix.utf8CodeUnitCount }
        }
        return nil
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

    /// The headers that the record had where it came from, in order.
    func originals(of headers: HeaderList) -> HeaderList {
        var originals = HeaderList()
        for index in 0..<headers.count where isOriginal(index, in: headers) {
            originals.append(name: headers.name(at: index), value: headers.value(at: index))
        }
        return originals
    }

    private func isOriginal(_ index: Int, in headers: HeaderList) -> Bool {
        let name = headers.name(at: index)
        if Self.springLeftovers.contains(where: { name.begins(with: $0) }) { return false }
        switch writer {
        case .connect: return !name.begins(with: Self.connectPrefix)
        case .spring:
            // Also the earlier ones: Spring adds those of each failure to those that are there.
            return Self.springPrefixCount(name) == nil
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
