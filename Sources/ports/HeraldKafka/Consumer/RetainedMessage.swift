/// A consumed record that its owner retains: in librdkafka's memory, or, after ``keep()``, in a copy.
///
/// A ``Message`` retains all records that were fetched together with it, of all partitions. Retaining one record in a
/// thousand for long would eventually retain all of them.
///
/// The owner calls ``release()`` exactly once. Copies of this value are the same record, so ``keep()`` needs the only
/// copy.
public struct RetainedMessage: RecordBytes, @unchecked Sendable {
    private enum Place {
        case message(Message)
        case copy(RecordCopy)
        case empty
    }

    private var place: Place

    /// A stand-in for an unreadable record: no key, an empty value.
    public static var empty: Self { Self(place: .empty) }

    private init(place: Place) { self.place = place }

    /// Takes over the message, which must be a record.
    public init(_ message: Message) {
        place = .message(message)
    }

    /// Whether it has memory of its own.
    public var isCopy: Bool { if case .copy = place { true } else { false } }

    /// Copies the record and releases its message; further calls do nothing.
    public mutating func keep() {
        guard case .message(let message) = place else { return }
        place = .copy(RecordCopy(message))
        message.release()
    }

    /// The key, in the message or the copy.
    public var keyBytes: UnsafeRawBufferPointer? {
        switch place {
        case .message(let message): message.keyBytes
        case .copy(let copy): copy.key
        case .empty: nil
        }
    }

    /// The value, in the message or the copy.
    public var valueBytes: UnsafeRawBufferPointer? {
        switch place {
        case .message(let message): message.valueBytes
        case .copy(let copy): copy.value
        case .empty: UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Visits the headers in order.
    public func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        switch place {
        case .message(let message): message.forEachHeader(body)
        case .copy(let copy): copy.forEachHeader(body)
        case .empty: break
        }
    }

    /// Gives the memory back.
    public func release() {
        switch place {
        case .message(let message): message.release()
        case .copy(let copy): copy.release()
        case .empty: break
        }
    }
}

/// Key, value and headers of a record in one block of memory: the number of headers, then the key, the value, and each
/// header's name and value, each prefixed with its length (-1 for null).
private struct RecordCopy {
    private static let lengthSize = MemoryLayout<Int>.size

    private let memory: UnsafeMutableRawPointer

    init(_ message: Message) {
        var size = 3 * Self.lengthSize + message.keyCount + message.valueCount
        var headers = 0
        message.forEachHeader { name, value in
            headers += 1
            size += 2 * Self.lengthSize + name.byteCount + (value?.byteCount ?? 0)
        }
        memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.lengthSize)
        memory.storeBytes(of: headers, as: Int.self)
        var end = memory + Self.lengthSize
        Self.append(message.keyBytes, at: &end)
        Self.append(message.valueBytes, at: &end)
        message.forEachHeader { name, value in
            name.withUnsafeBytes { Self.append($0, at: &end) }
            if let value {
                value.withUnsafeBytes { Self.append($0, at: &end) }
            } else {
                Self.append(nil, at: &end)
            }
        }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer?, at end: inout UnsafeMutableRawPointer) {
        end.storeBytes(of: bytes?.count ?? -1, as: Int.self)
        end += lengthSize
        guard let bytes, let start = bytes.baseAddress else { return }
        end.copyMemory(from: start, byteCount: bytes.count)
        end += bytes.count
    }

    private static func take(_ place: inout UnsafeRawPointer) -> UnsafeRawBufferPointer? {
        let count = place.loadUnaligned(as: Int.self)
        place += lengthSize
        guard count >= 0 else { return nil }
        defer { place += count }
        return UnsafeRawBufferPointer(start: place, count: count)
    }

    var key: UnsafeRawBufferPointer? {
        var place = UnsafeRawPointer(memory) + Self.lengthSize
        return Self.take(&place)
    }

    var value: UnsafeRawBufferPointer? {
        var place = UnsafeRawPointer(memory) + Self.lengthSize
        _ = Self.take(&place)
        return Self.take(&place)
    }

    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        var place = UnsafeRawPointer(memory) + Self.lengthSize
        _ = Self.take(&place)
        _ = Self.take(&place)
        for _ in 0..<memory.load(as: Int.self) {
            guard let name = Self.take(&place) else { return }
            let value = Self.take(&place)
            body(name.bytes, value?.bytes)
        }
    }

    func release() {
        memory.deallocate()
    }
}
