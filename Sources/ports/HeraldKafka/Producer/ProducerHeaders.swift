internal import CRDKafka

/// Headers for one record: in order, names may repeat, a value may be null.
///
/// ``Producer/produce(topic:partition:key:value:headers:token:)`` takes them over, whether it succeeds or not.
public struct ProducerHeaders: ~Copyable {
    private let pointer: OpaquePointer

    /// Headers with room for this many; more may follow.
    public init(capacity: Int = 8) {
        pointer = rd_kafka_headers_new(max(capacity, 0))
    }

    deinit { rd_kafka_headers_destroy(pointer) }

    /// Appends a copy of a header; a `nil` value is a null value.
    public func append(name: RawSpan, value: RawSpan?) {
        name.withUnsafeBytes { append($0, value) }
    }

    /// Appends a copy of a header; a `nil` value is a null value.
    public func append(name: StaticString, value: RawSpan?) {
        append(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value)
    }

    /// Appends a copy of a header.
    public func append(name: StaticString, value: String) {
        var value = value
        value.withUTF8 { utf8 in
            append(
                UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount),
                bytes: UnsafeRawBufferPointer(utf8))
        }
    }

    /// Appends a copy of a header; a `nil` value is a null value.
    public func append(name: String, value: RawSpan?) {
        var name = name
        name.withUTF8 { append(UnsafeRawBufferPointer($0), value) }
    }

    private func append(_ name: UnsafeRawBufferPointer, _ value: RawSpan?) {
        if let value {
            value.withUnsafeBytes { append(name, bytes: $0) }
        } else {
            append(name, bytes: nil)
        }
    }

    /// An empty value needs a pointer, because librdkafka takes a missing one for null.
    private func append(_ name: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer?) {
        let nameStart = (name.baseAddress ?? Self.nothing).assumingMemoryBound(to: CChar.self)
        let start = bytes.map { $0.baseAddress ?? Self.nothing }
        // READ_ONLY is impossible: the headers belong to no message yet.
        _ = rd_kafka_header_add(pointer, nameStart, name.count, start, bytes?.count ?? 0)
    }

    /// An address for "no bytes, but not null".
    static var nothing: UnsafeRawPointer { UnsafeRawPointer(("" as StaticString).utf8Start) }

    var raw: OpaquePointer { pointer }

    /// Gives up ownership: librdkafka has taken the headers over.
    consuming func relinquish() {
        discard self
    }
}
