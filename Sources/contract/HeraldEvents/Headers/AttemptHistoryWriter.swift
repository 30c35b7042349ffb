import HeraldBytes
import HeraldTime

/// Writes the JSON array of calls in `herald-history`, one history after the other in the same memory.
public struct AttemptHistoryWriter: Sendable {
    private var pieces: [UInt8] = []
    /// The start of each call in `pieces`.
    private var starts: [Int] = []

    /// An empty writer.
    public init() {}

    /// Whether there is no call.
    public var isEmpty: Bool { starts.isEmpty }

    /// Begins a history with the earlier calls.
    ///
    /// A history that is no JSON array of objects is omitted entirely: it is for people, and never a reason to stop.
    public mutating func begin(with existing: RawSpan) {
        pieces.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        guard existing.byteCount > 0, (try? copyElements(of: existing)) != true else { return }
        pieces.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
    }

    /// Adds a call.
    public mutating func append(_ entry: AttemptEntry) {
        starts.append(pieces.count)
        var writer = JSONObjectWriter()
        writer.append("at", entry.at, to: &pieces)
        writer.append("pns", entry.pushService, to: &pieces)
        if let status = entry.status { writer.append("status", Int64(status), to: &pieces) }
        if let error = entry.error { writer.append("error", error, to: &pieces) }
        writer.append("ms", entry.duration.count, to: &pieces)
        writer.end(&pieces)
    }

    /// Appends the history to `output`, without the oldest calls when it would be too long.
    public func write(to output: inout [UInt8]) {
        var first = 0
        // Two brackets, and a comma between two calls.
        while first < starts.count,
            pieces.count - starts[first] + starts.count - first + 1 > AttemptHistory.maximumByteCount
        {
            first += 1
        }
        output.append(UInt8(ascii: "["))
        for index in first..<starts.count {
            if index > first { output.append(UInt8(ascii: ",")) }
            output += pieces[starts[index]..<(index + 1 < starts.count ? starts[index + 1] : pieces.count)]
        }
        output.append(UInt8(ascii: "]"))
    }

    /// False when it is no array of objects.
    private mutating func copyElements(of history: RawSpan) throws(JSONError) -> Bool {
        var reader = JSONReader(history)
        let array = try reader.readValue()
        try reader.expectEnd()
        guard array.kind == .array else { return false }
        reader = JSONReader(history, offset: array.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let element = try reader.nextElement(isFirst: &isFirst) {
            guard element.kind == .object else { return false }
            starts.append(pieces.count)
            pieces.append(copying: history.extracting(element.range))
        }
        return true
    }
}
