internal import CRDKafka

/// A cheap identity of a topic inside one ``Consumer``, for look-ups without the name.
public struct TopicHandleID: Hashable, Sendable {
    let address: UInt

    init(_ topic: OpaquePointer?) {
        address = UInt(bitPattern: topic)
    }
}

/// A consumed record, or an error in a record's place: a handle on librdkafka's own memory.
///
/// The code that took it from a queue calls ``release()`` exactly once, from any thread, before the consumer is
/// destroyed; the message may not be used afterwards. Copies are the same handle.
public struct Message: RecordBytes, @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<rd_kafka_message_t>

    init(_ pointer: UnsafeMutablePointer<rd_kafka_message_t>) {
        self.pointer = pointer
    }

    /// Whether this is an error rather than a record.
    public var isError: Bool { pointer.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR }

    /// The error of its partition, or of the whole consumer when ``partition`` is negative; `nil` for a record.
    public var error: KafkaError? {
        guard isError else { return nil }
        let text = rd_kafka_message_errstr(pointer).map { String(cString: $0) }
        return KafkaError(pointer.pointee.err, message: text)
    }

    /// The topic's identity, as returned by ``Consumer/topicID(of:)``.
    public var topic: TopicHandleID { TopicHandleID(pointer.pointee.rkt) }

    /// The topic's name; empty for an error of the whole consumer.
    ///
    /// Makes a string, so it is not for every record.
    public func topicName() -> String {
        guard let topic = pointer.pointee.rkt else { return "" }
        return String(cString: rd_kafka_topic_name(topic))
    }

    /// The partition; -1 for an error of the whole consumer.
    public var partition: Int32 { pointer.pointee.partition }

    /// The record's offset in its partition.
    public var offset: Int64 { pointer.pointee.offset }

    /// The record's timestamp in milliseconds since the Unix epoch, -1 when unknown.
    public var timestampMilliseconds: Int64 {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(pointer, &type)
        return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp
    }

    /// The size of the value; 0 for a null value too.
    public var valueCount: Int { pointer.pointee.payload == nil ? 0 : pointer.pointee.len }

    /// The size of the key; 0 for a null key too.
    public var keyCount: Int { pointer.pointee.key == nil ? 0 : pointer.pointee.key_len }

    /// The key in librdkafka's memory.
    public var keyBytes: UnsafeRawBufferPointer? {
        pointer.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: pointer.pointee.key_len) }
    }

    /// The value in librdkafka's memory.
    public var valueBytes: UnsafeRawBufferPointer? {
        pointer.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: pointer.pointee.len) }
    }

    /// Visits the headers in order.
    ///
    /// Costs next to nothing when there are none. librdkafka copies them for each visit, and ends a name at a NUL byte.
    public func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        var headers: OpaquePointer?
        // NOENT for none, BAD_MSG for bytes that are not headers: the record then counts as having none. The headers
        // are detached from the message at once, because it would otherwise hold a second copy for its lifetime.
        guard rd_kafka_message_detach_headers(pointer, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR, let headers else {
            return
        }
        defer { rd_kafka_headers_destroy(headers) }
        var index = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while rd_kafka_header_get_all(headers, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            index += 1
            guard let name else { continue }
            var nameCount = 0
            while name[nameCount] != 0 { nameCount += 1 }
            let nameBytes = UnsafeRawBufferPointer(start: name, count: nameCount)
            guard let value else {
                body(nameBytes.bytes, nil)
                continue
            }
            body(nameBytes.bytes, UnsafeRawBufferPointer(start: value, count: size).bytes)
        }
    }

    /// Gives the memory back.
    public func release() { rd_kafka_message_destroy(pointer) }
}

extension Message {
    package var keyCopy: [UInt8]? { withKey(Self.copy) }

    package var valueCopy: [UInt8]? { withValue(Self.copy) }

    private static func copy(_ bytes: RawSpan?) -> [UInt8]? {
        guard let bytes else { return nil }
        return bytes.withUnsafeBytes { Array($0) }
    }
}
