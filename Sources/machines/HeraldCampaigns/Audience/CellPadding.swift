internal import HeraldBytes

/// What databases and spreadsheets put around a cell's text: spaces, tabs, no-break spaces and byte order marks.
enum CellPadding {
    private static let noBreakSpace: [UInt8] = [0xC2, 0xA0]
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The part of the bytes without what stands around its text.
    static func trimmed(_ range: Range<Int>, of bytes: RawSpan) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while let count = byteCount(atStartOf: start..<end, of: bytes) { start += count }
        while let count = byteCount(atEndOf: start..<end, of: bytes) { end -= count }
        return start..<end
    }

    /// A text without what stands around it, as the names of columns are compared; a no-break space or a line's end in it is
    /// a space.
    static func plain(_ text: String) -> String {
        let spaced = ["\r\n", "\n", "\r", "\u{A0}"].reduce(text) { $0.replacing($1, with: " ") }
        let bytes = Array(spaced.utf8)
        let range = trimmed(0..<bytes.count, of: bytes.span.bytes)
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// How many bytes the first piece of padding has; `nil` when text begins there.
    static func byteCount(atStartOf range: Range<Int>, of bytes: RawSpan) -> Int? {
        guard let first = range.first else { return nil }
        switch bytes[byteAt: first] {
        case 0x20, 0x09: return 1
        case 0xC2: return holds(noBreakSpace, bytes, at: first, in: range)
        case 0xEF: return holds(byteOrderMark, bytes, at: first, in: range)
        default: return nil
        }
    }

    private static func byteCount(atEndOf range: Range<Int>, of bytes: RawSpan) -> Int? {
        guard let last = range.last else { return nil }
        switch bytes[byteAt: last] {
        case 0x20, 0x09: return 1
        case 0xA0: return holds(noBreakSpace, bytes, at: last - 1, in: range)
        case 0xBF: return holds(byteOrderMark, bytes, at: last - 2, in: range)
        default: return nil
        }
    }

    /// How many bytes these are, if they stand at this place.
    private static func holds(_ wanted: [UInt8], _ bytes: RawSpan, at start: Int, in range: Range<Int>) -> Int? {
        guard range.contains(start), start + wanted.count <= range.upperBound else { return nil }
        for (index, byte) in wanted.enumerated() where bytes[byteAt: start + index] != byte { return nil }
        return wanted.count
    }
}
