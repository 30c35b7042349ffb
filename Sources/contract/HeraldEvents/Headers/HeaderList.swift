import HeraldBytes

/// A record's headers in their order, in one flat buffer that is filled again for each record.
///
/// Names are case-sensitive and may be repeated, as in Kafka; a value may be null.
public struct HeaderList: Sendable {
    private var storage: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry {
        var nameStart: Int
        var valueStart: Int
        var end: Int
        var hasValue: Bool
    }

    /// No headers.
    public init() {}

    /// The number of headers.
    public var count: Int { entries.count }

    /// The number of bytes of all names and values.
    public var byteCount: Int { storage.count }

    /// Removes all headers, and keeps the memory unless told otherwise.
    public mutating func removeAll(keepingCapacity: Bool = true) {
        // Most records have none, and each array would be checked for other owners.
        if entries.isEmpty { return }
        storage.removeAll(keepingCapacity: keepingCapacity)
        entries.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Appends a header; no value is Kafka's null.
    public mutating func append(name: RawSpan, value: RawSpan?) {
        let nameStart = storage.count
        storage.append(copying: name)
        appendValue(value, nameStart: nameStart)
    }

    /// Appends a header whose name is a literal.
    public mutating func append(name: StaticString, value: RawSpan?) {
        let nameStart = storage.count
        storage.append(text: name)
        appendValue(value, nameStart: nameStart)
    }

    /// Appends a header of text.
    public mutating func append(_ name: String, _ value: String?) {
        let nameStart = storage.count
        storage.append(contentsOf: name.utf8)
        let valueStart = storage.count
        if let value { storage.append(contentsOf: value.utf8) }
        entries.append(
            Entry(nameStart: nameStart, valueStart: valueStart, end: storage.count, hasValue: value != nil))
    }

    /// Appends a header with a number as its text.
    public mutating func append(name: StaticString, decimal: Int64) {
        let nameStart = storage.count
        storage.append(text: name)
        let valueStart = storage.count
        storage.append(decimal: decimal)
        entries.append(Entry(nameStart: nameStart, valueStart: valueStart, end: storage.count, hasValue: true))
    }

    /// Appends a header whose value the closure writes.
    mutating func append(name: StaticString, writing write: (inout [UInt8]) -> Void) {
        let nameStart = storage.count
        storage.append(text: name)
        let valueStart = storage.count
        write(&storage)
        entries.append(Entry(nameStart: nameStart, valueStart: valueStart, end: storage.count, hasValue: true))
    }

    /// The name of the header at this index; an index outside of the list traps.
    @_lifetime(borrow self)
    public func name(at index: Int) -> RawSpan {
        let entry = entries[index]
        return storage.span.bytes.extracting(entry.nameStart..<entry.valueStart)
    }

    /// The value of the header at this index, or nothing when it is null; an index outside of the list traps.
    @_lifetime(borrow self)
    public func value(at index: Int) -> RawSpan? {
        let entry = entries[index]
        guard entry.hasValue else { return nil }
        return storage.span.bytes.extracting(entry.valueStart..<entry.end)
    }

    /// The index of the first header with exactly this name.
    public func firstIndex(named name: StaticString) -> Int? {
        for index in 0..<entries.count where self.name(at: index).hasSameBytes(as: name) { return index }
        return nil
    }

    /// The index of the last header with exactly this name, which is the one that counts when there are more.
    public func lastIndex(named name: StaticString) -> Int? {
        for index in stride(from: entries.count - 1, through: 0, by: -1)
        where self.name(at: index).hasSameBytes(as: name) { return index }
        return nil
    }

    /// The index of the last header with this name, given in lower case and compared in any.
    func lastIndex(namedInAnyCase name: StaticString) -> Int? {
        for index in stride(from: entries.count - 1, through: 0, by: -1)
        where self.name(at: index).hasSameBytes(inAnyCaseAs: name) { return index }
        return nil
    }

    /// The value of the last header with exactly this name, or nothing when there is none or it is null.
    @_lifetime(borrow self)
    public func lastValue(named name: StaticString) -> RawSpan? {
        guard let index = lastIndex(named: name) else { return nil }
        return value(at: index)
    }

    func valueByteCount(at index: Int) -> Int { entries[index].end - entries[index].valueStart }

    private mutating func appendValue(_ value: RawSpan?, nameStart: Int) {
        let valueStart = storage.count
        if let value { storage.append(copying: value) }
        entries.append(
            Entry(nameStart: nameStart, valueStart: valueStart, end: storage.count, hasValue: value != nil))
    }
}
