import HeraldKafka
import TestSupport

/// The parts of a record that tests compare.
struct Record: Equatable {
    struct Header: Equatable {
        var name: String
        var value: [UInt8]?
    }

    var partition: Int32 = 0
    var offset: Int64 = 0
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [Header] = []

    /// Copies a message.
    init(_ message: Message) {
        partition = message.partition
        offset = message.offset
        key = message.withKey { optionalBytes($0) }
        value = message.withValue { optionalBytes($0) }
        message.forEachHeader { name, value in
            headers.append(Header(name: String(decoding: bytes(name), as: UTF8.self), value: optionalBytes(value)))
        }
    }

    var text: String? { value.map { String(decoding: $0, as: UTF8.self) } }
}

func bytes(_ span: RawSpan) -> [UInt8] {
    span.withUnsafeBytes { Array($0) }
}

func optionalBytes(_ span: RawSpan?) -> [UInt8]? {
    guard let span else { return nil }
    return bytes(span)
}

extension Producer {
    /// Produces one record from arrays.
    func produce(
        _ topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [Record.Header]? = nil, token: UInt64 = 0
    ) throws -> KafkaError? {
        let topic = try self.topic(topic)
        return lend(key) { key in
            lend(value) { value in
                guard let headers else {
                    return produce(topic: topic, partition: partition, key: key, value: value, token: token)
                }
                let copies = ProducerHeaders(capacity: headers.count)
                for header in headers {
                    lend(header.value) { copies.append(name: header.name, value: $0) }
                }
                return produce(
                    topic: topic, partition: partition, key: key, value: value, headers: copies, token: token)
            }
        }
    }

    /// Produces texts `prefix-0`, `prefix-1` … to one partition and waits until the broker has them.
    func fill(_ topic: String, partition: Int32 = 0, _ range: Range<Int>, prefix: String = "r") throws {
        for index in range {
            if let error = try produce(topic, partition: partition, value: Array("\(prefix)-\(index)".utf8)) {
                throw error
            }
        }
        var failed: KafkaError?
        try flush(timeout: Patience.timeout) { _, error in failed = failed ?? error }
        if let failed { throw failed }
    }
}

private func lend<R>(_ bytes: [UInt8]?, _ body: (RawSpan?) -> R) -> R {
    guard let bytes else { return body(nil) }
    return body(bytes.span.bytes)
}
