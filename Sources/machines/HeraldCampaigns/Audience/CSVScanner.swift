internal import HeraldBytes

/// Finds one record's fields in bytes of CSV (RFC 4180), copying nothing.
///
/// Lines end with LF or CRLF. A field in quotes may hold delimiters, line ends and doubled quotes; a quote anywhere else is an
/// error, and so is anything but a delimiter or a line's end behind a closing quote.
struct CSVScanner {
    /// Where a field lies, without its quotes.
    struct Field: Equatable {
        var start: Int
        var end: Int
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
            if offset < bytes.byteCount, bytes[byteAt: offset] == UInt8(ascii: "\"") {
                guard let field = Self.quoted(bytes, from: offset + 1, &offset, &lines) else {
                    return isEnd ? Self.broken(.unclosedQuote, bytes, from: start, isEnd) : .unfinished
                }
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
            case UInt8(ascii: "\n"): return .record(end: offset + 1, lines: lines + 1)
            case UInt8(ascii: "\r") where offset + 1 < bytes.byteCount && bytes[byteAt: offset + 1] == 0x0A:
                return .record(end: offset + 2, lines: lines + 1)
            case UInt8(ascii: "\r") where offset + 1 == bytes.byteCount:
                return isEnd ? .record(end: offset + 1, lines: lines + 1) : .unfinished
            default: return Self.broken(.textBehindQuote, bytes, from: start, isEnd)
            }
        }
    }

    /// Only the record's first line is given up: when a quote is missing in it, those behind it are not to be lost too.
    private static func broken(_ problem: Problem, _ bytes: RawSpan, from start: Int, _ isEnd: Bool) -> Outcome {
        var offset = start
        while offset < bytes.byteCount, bytes[byteAt: offset] != UInt8(ascii: "\n") { offset += 1 }
        guard offset < bytes.byteCount || isEnd else { return .unfinished }
        return .broken(problem, end: min(offset + 1, bytes.byteCount))
    }

    /// The end of a field without quotes: at a delimiter, a line's end, a quote, or the end of the bytes.
    private static func plainEnd(_ bytes: RawSpan, from start: Int, _ delimiter: UInt8) -> Int {
        var offset = start
        while offset < bytes.byteCount {
            switch bytes[byteAt: offset] {
            case delimiter, UInt8(ascii: "\n"), UInt8(ascii: "\""): return offset
            case UInt8(ascii: "\r"):
                // Alone it is a part of the field.
                if offset + 1 == bytes.byteCount || bytes[byteAt: offset + 1] == UInt8(ascii: "\n") { return offset }
                offset += 1
            default: offset += 1
            }
        }
        return offset
    }

    /// A field in quotes, with `offset` behind the closing one then; nothing when that is not there.
    private static func quoted(_ bytes: RawSpan, from start: Int, _ offset: inout Int, _ lines: inout Int) -> Field? {
        var field = Field(start: start, end: start)
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
                if byte == UInt8(ascii: "\n") { lines += 1 }
                next += 1
            }
        }
        return nil
    }

    static func append(_ field: Field, of bytes: RawSpan, to output: inout [UInt8]) {
        guard field.hasDoubledQuotes else {
            output.append(copying: bytes.extracting(field.start..<field.end))
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
