import HeraldBytes

/// The parts that a retry record or dead letter omits for lack of room in its topic: the content of `herald-omitted`.
public struct Omissions: OptionSet, Hashable, Sendable {
    /// One bit for each part.
    public let rawValue: UInt8

    /// The parts with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `herald-history`.
    public static let history = Self(rawValue: 1)
    /// `herald-detail`.
    public static let detail = Self(rawValue: 2)
    /// The publisher's headers, except those needed to read the event.
    public static let headers = Self(rawValue: 4)
    /// The record's key; only one of more than ``longestKey`` bytes is ever left out.
    public static let key = Self(rawValue: 8)
    /// The record's value.
    public static let value = Self(rawValue: 16)

    /// The largest key that is never omitted: it would make little room.
    public static let longestKey = 1_024

    private static let names: [(part: Self, name: StaticString)] = [
        (.history, "history"), (.detail, "detail"), (.headers, "headers"), (.key, "key"), (.value, "value"),
    ]

    /// The parts in a list, separated by commas; unknown names are skipped.
    public init(commaSeparated list: RawSpan) {
        var parts: Self = []
        var start = 0
        for end in 0...list.byteCount where end == list.byteCount || list[byteAt: end] == UInt8(ascii: ",") {
            let word = list.extracting(start..<end)
            for (part, name) in Self.names where word.hasSameBytes(as: name) { parts.insert(part) }
            start = end + 1
        }
        self = parts
    }

    /// The parts' names, in the order of their omission.
    public var words: [String] { Self.names.filter { contains($0.part) }.map { $0.name.description } }

    func append(to output: inout [UInt8]) {
        var isFirst = true
        for (part, name) in Self.names where contains(part) {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            output.append(text: name)
        }
    }
}
