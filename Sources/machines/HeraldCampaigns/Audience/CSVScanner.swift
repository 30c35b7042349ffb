internal import HeraldBytes

/// Finds one record's fields in bytes of CSV (RFC 4180), copying nothing.
///
/// Lines end with LF, CRLF or CR, also in one file. A field in quotes may hold delimiters, line ends and doubled quotes, and have
/// padding around them; a quote anywhere else is an error, and so is other text behind a closing quote.
struct CSVScanner {
    /// Where a field lies, without its quotes.
    struct Field: Equatable {
        var start: Int
        var end: Int
        /// Whether it stands in quotes: then all of it is its text.
        var isQuoted = false
        /// Whether quotes in it are doubled, so that its bytes are not its text.
        var hasDoubledQuotes = false
    }

    enum Outcome: Equatable {
        /// Its fields are known; the next record begins at `end`, so many lines further on.
        case record(end: Int, lines: Int)
        /// It is no CSV; the next line begins at `end`.
        case broken(Problem, end: Int)
        /// It goes on behind the bytes.
        case unfinished
    }

    enum Problem: Equatable {
        case quoteInside
        case textBehindQuote
        case unclosedQuote
    }

    /// What stands between two fields.
    var delimiter = UInt8(ascii: ",")
    /// The fields of the record that was found last.
    private(set) var fields: [Field] = []

    /// Looks for the record that begins at `start`.
    ///
    /// - Parameter isEnd: whether nothing comes behind the bytes.
    mutating func scan(_ bytes: RawSpan, from start: Int, isEnd: Bool) -> Outcome {
        fields.removeAll(keepingCapacity: true)
        var offset = start
        var lines = 0
        while true {
            let text = passPadding(offset, of: bytes)
            if text < bytes.byteCount, bytes[byteAt: text] == UInt8(ascii: "\"") {
                guard let field = Self.quoted(bytes, from: text + 1, &offset, &lines) else {
                    return isEnd ? Self.broken(.unclosedQuote, bytes, from: start, isEnd) : .unfinished
                }
                offset = passPadding(offset, of: bytes)
                fields.append(field)
            } else {
                let first = offset
                offset = Self.plainEnd(bytes, from: offset, delimiter)
                if offset < bytes.byteCount, bytes[byteAt: offset] == UInt8(ascii: "\"") {
                    return Self.broken(.quoteInside, bytes, from: start, isEnd)
                }
                fields.append(Field(start: first, end: offset))
            }
            guard offset < bytes.byteCount else {
                return isEnd ? .record(end: offset, lines: lines + 1) : .unfinished
            }
            switch bytes[byteAt: offset] {
            case delimiter: offset += 1
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard let next = LineEnd.passed(at: offset, in: bytes, isEnd: isEnd) else { return .unfinished }
                return .record(end: next, lines: lines + 1)
            default: return Self.broken(.textBehindQuote, bytes, from: start, isEnd)
            }
        }
    }

    /// Where the text behind padding begins; a tab that is the delimiter is none.
    private func passPadding(_ start: Int, of bytes: RawSpan) -> Int {
        var offset = start
        while offset < bytes.byteCount, bytes[byteAt: offset] != delimiter,
            let count = CellPadding.byteCount(atStartOf: offset..<bytes.byteCount, of: bytes)
        { offset += count }
        return offset
    }

    /// Only the record's first line is given up: when a quote is missing in it, those behind it are not to be lost too.
    private static func broken(_ problem: Problem, _ bytes: RawSpan, from start: Int, _ isEnd: Bool) -> Outcome {
        let end = LineEnd.first(in: bytes, from: start)
        guard let next = LineEnd.passed(at: end, in: bytes, isEnd: isEnd) else { return .unfinished }
        return .broken(problem, end: next)
    }

    /// The end of a field without quotes: at a delimiter, a line's end, a quote, or the end of the bytes.
    private static func plainEnd(_ bytes: RawSpan, from start: Int, _ delimiter: UInt8) -> Int {
        var offset = start
        while offset < bytes.byteCount {
            switch bytes[byteAt: offset] {
            case delimiter, UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""): return offset
            default: offset += 1
            }
        }
        return offset
    }

    /// A field in quotes, with `offset` behind the closing one then; nothing when that is not there.
    private static func quoted(_ bytes: RawSpan, from start: Int, _ offset: inout Int, _ lines: inout Int) -> Field? {
        var field = Field(start: start, end: start, isQuoted: true)
        var next = start
        while next < bytes.byteCount {
            let byte = bytes[byteAt: next]
            if byte == UInt8(ascii: "\"") {
                guard next + 1 < bytes.byteCount, bytes[byteAt: next + 1] == UInt8(ascii: "\"") else {
                    field.end = next
                    offset = next + 1
                    return field
                }
                field.hasDoubledQuotes = true
                next += 2
            } else {
                let isCRLF = byte == UInt8(ascii: "\r") && next + 1 < bytes.byteCount && bytes[byteAt: next + 1] == 0x0A
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r"), !isCRLF { lines += 1 }
                next += 1
            }
        }
        return nil
    }

    /// Appends a field's text; spaces around one without quotes are none of it.
    static func append(_ field: Field, of bytes: RawSpan, to output: inout [UInt8]) {
        guard field.hasDoubledQuotes else {
            let range = field.start..<field.end
            output.append(copying: bytes.extracting(field.isQuoted ? range : CellPadding.trimmed(range, of: bytes)))
            return
        }
        var offset = field.start
        while offset < field.end {
            let byte = bytes[byteAt: offset]
            output.append(byte)
            offset += byte == UInt8(ascii: "\"") ? 2 : 1
        }
    }
}

/// The end of a line: LF, CRLF, or CR, as old spreadsheets on a Mac write it.
enum LineEnd {
    /// Where the line that begins at `start` ends; the number of bytes when no end is among them.
    static func first(in bytes: RawSpan, from start: Int) -> Int {
        var offset = start
        while offset < bytes.byteCount, !isAny(bytes[byteAt: offset]) { offset += 1 }
        return offset
    }

    /// Where the next line begins behind the end that stands at `offset`; `nil` when the bytes do not tell yet.
    ///
    /// - Parameter isEnd: whether nothing comes behind the bytes.
    static func passed(at offset: Int, in bytes: RawSpan, isEnd: Bool) -> Int? {
        let next = offset + 1
        guard next < bytes.byteCount else {
            let isLineFeed = offset < bytes.byteCount && bytes[byteAt: offset] == UInt8(ascii: "\n")
            return isEnd || isLineFeed ? min(next, bytes.byteCount) : nil
        }
        return isCRLF(bytes, at: offset) ? next + 1 : next
    }

    private static func isCRLF(_ bytes: RawSpan, at offset: Int) -> Bool {
        bytes[byteAt: offset] == UInt8(ascii: "\r") && bytes[byteAt: offset + 1] == UInt8(ascii: "\n")
    }

    private static func isAny(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}
