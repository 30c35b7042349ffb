import HeraldBytes

/// The kind and place of a JSON value; a string without its quotes.
struct JSONToken {
    enum Kind: UInt8 {
        /// There is no value.
        case none
        case null
        case boolean
        case number
        case string
        case array
        case object
    }

    var kind: Kind = .none
    var start: Int32 = 0
    var end: Int32 = 0
    /// Whether a string holds escapes, so that its bytes are not its text.
    var hasEscapes = false

    var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }
}

extension JSONToken {
    /// A string's token.
    @inline(__always)
    init(string range: Range<Int>, hasEscapes: Bool = false) {
        self.init(
            kind: .string, start: Int32(truncatingIfNeeded: range.lowerBound),
            end: Int32(truncatingIfNeeded: range.upperBound), hasEscapes: hasEscapes)
    }
}

/// A strict reader of JSON (RFC 8259) over bytes: it checks everything that it skips, copies nothing and does not
/// recurse.
struct JSONReader: ~Escapable {
    static let maximumDepth = 64

    let bytes: RawSpan
    private(set) var offset: Int
    private var depth = 0

    /// A reader that begins at the offset.
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Passes over white space and makes sure that nothing follows.
    mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard offset == bytes.byteCount else { throw JSONError(problem: .trailingBytes, offset: offset) }
    }

    /// Passes over the white space before the document and over its opening brace.
    mutating func enterDocumentObject() throws(JSONError) {
        if bytes.byteCount >= 3, bytes.extracting(0..<3).hasSameBytes(as: "\u{FEFF}") {
            throw JSONError(problem: .byteOrderMark, offset: 0)
        }
        skipWhitespace()
        guard try peek() == UInt8(ascii: "{") else { throw JSONError(problem: .notAnObject, offset: offset) }
        advance(by: 1)
        depth += 1
    }

    /// Skips the opening bracket or brace of a value that was read already.
    mutating func enterContainer() throws(JSONError) {
        _ = try peek()
        advance(by: 1)
        depth += 1
    }

    /// Skips the separator between an object's members and the next one's key and colon; returns nil at the object's
    /// end.
    @inline(__always)
    mutating func nextKey(isFirst: inout Bool) throws(JSONError) -> JSONToken? {
        guard try isAtNext(isFirst: &isFirst, closing: UInt8(ascii: "}")) else { return nil }
        return try readKeyAndColon()
    }

    /// Skips the separator between an array's elements and reads the next one; nil at the array's end.
    mutating func nextElement(isFirst: inout Bool) throws(JSONError) -> JSONToken? {
        guard try isAtNext(isFirst: &isFirst, closing: UInt8(ascii: "]")) else { return nil }
        return try readValue()
    }

    /// Reads a whole value of any kind, with its content.
    mutating func readValue() throws(JSONError) -> JSONToken {
        skipWhitespace()
        let start = offset
        switch try peek() {
        case UInt8(ascii: "\""): return try readString()
        case UInt8(ascii: "{"):
            try skipContainer()
            return JSONToken(kind: .object, start: Int32(start), end: Int32(offset))
        case UInt8(ascii: "["):
            try skipContainer()
            return JSONToken(kind: .array, start: Int32(start), end: Int32(offset))
        default:
            let kind = try skipScalar()
            return JSONToken(kind: kind, start: Int32(start), end: Int32(offset))
        }
    }

    // MARK: - Structure

    @inline(__always)
    private mutating func isAtNext(isFirst: inout Bool, closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        let byte = try peek()
        if byte == closing {
            advance(by: 1)
            depth -= 1
            return false
        }
        if isFirst {
            isFirst = false
        } else {
            guard byte == UInt8(ascii: ",") else { throw JSONError(problem: .unexpectedByte, offset: offset) }
            advance(by: 1)
            skipWhitespace()
        }
        return true
    }

    @inline(__always)
    private mutating func readKeyAndColon() throws(JSONError) -> JSONToken {
        guard try peek() == UInt8(ascii: "\"") else { throw JSONError(problem: .unexpectedByte, offset: offset) }
        let key = try readString()
        skipWhitespace()
        guard try peek() == UInt8(ascii: ":") else { throw JSONError(problem: .unexpectedByte, offset: offset) }
        advance(by: 1)
        return key
    }

    /// Passes over an array or object and everything inside; the levels are the bits of one word, 1 for an object.
    private mutating func skipContainer() throws(JSONError) {
        var objects: UInt64 = 0
        var level = 0
        values: while true {
            skipWhitespace()
            let byte = try peek()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth + level < Self.maximumDepth else { throw JSONError(problem: .tooDeep, offset: offset) }
                let isObject = byte == UInt8(ascii: "{")
                objects = objects << 1 | (isObject ? 1 : 0)
                level += 1
                advance(by: 1)
                skipWhitespace()
                if try peek() != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    if isObject { _ = try readKeyAndColon() }
                    continue values
                }
            } else if byte == UInt8(ascii: "\"") {
                _ = try readString()
            } else {
                _ = try skipScalar()
            }
            while level > 0 {
                skipWhitespace()
                let isObject = objects & 1 == 1
                let byte = try peek()
                if byte == UInt8(ascii: ",") {
                    advance(by: 1)
                    skipWhitespace()
                    if isObject { _ = try readKeyAndColon() }
                    continue values
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw JSONError(problem: .unexpectedByte, offset: offset)
                }
                advance(by: 1)
                objects >>= 1
                level -= 1
            }
            return
        }
    }

    // MARK: - Bytes

    @inline(__always)
    private mutating func skipWhitespace() {
        // Hardly any event has white space between its tokens.
        if offset < bytes.byteCount, byte(at: offset) <= 0x20 { skipWhitespaceAhead() }
    }

    @inline(never)
    private mutating func skipWhitespaceAhead() {
        while offset < bytes.byteCount {
            switch byte(at: offset) {
            case 0x20, 0x09, 0x0A, 0x0D: advance(by: 1)
            default: return
            }
        }
    }

    @inline(__always)
    private func peek() throws(JSONError) -> UInt8 {
        guard offset < bytes.byteCount else { throw JSONError(problem: .unexpectedEnd, offset: offset) }
        return byte(at: offset)
    }

    /// The byte at an offset that was compared with the end.
    @inline(__always)
    func byte(at offset: Int) -> UInt8 { bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self) }

    /// Advances over bytes that were examined.
    @inline(__always)
    mutating func advance(by count: Int) { offset &+= count }
}
