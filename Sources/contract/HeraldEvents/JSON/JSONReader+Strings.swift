import HeraldBytes

extension JSONReader {
    /// Reads a string whose opening quote is at the offset; a short one, as names are, in one step.
    @inline(__always)
    mutating func readString() throws(JSONError) -> JSONToken {
        let start = offset &+ 1
        advance(by: 1)
        if start &+ 16 <= bytes.byteCount {
            let count = plainByteCount(at: start)
            advance(by: count)
            if count < 16, byte(at: start &+ count) == UInt8(ascii: "\"") {
                advance(by: 1)
                return JSONToken(string: start..<start &+ count)
            }
        }
        return try readString(from: start)
    }

    /// Reads the rest of a string that began at `start`.
    @inline(never)
    private mutating func readString(from start: Int) throws(JSONError) -> JSONToken {
        var hasEscapes = false
        while true {
            skipPlainBytes()
            guard offset < bytes.byteCount else { throw JSONError(problem: .unexpectedEnd, offset: offset) }
            let byte = bytes[byteAt: offset]
            if byte == UInt8(ascii: "\"") {
                advance(by: 1)
                return JSONToken(string: start..<offset &- 1, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try skipEscape()
            } else if byte < 0x20 {
                throw JSONError(problem: .controlCharacter, offset: offset)
            } else {
                guard let count = UTF8Text.characterByteCount(at: offset, in: bytes) else {
                    throw JSONError(problem: .invalidUTF8, offset: offset)
                }
                advance(by: count)
            }
        }
    }

    /// Passes over bytes up to the first that is a quote, a backslash, a control character or not ASCII, sixteen at a time.
    @inline(__always)
    private mutating func skipPlainBytes() {
        var end = offset
        while end &+ 16 <= bytes.byteCount {
            let count = plainByteCount(at: end)
            end &+= count
            guard count == 16 else {
                advance(by: end &- offset)
                return
            }
        }
        while end < bytes.byteCount {
            let byte = bytes.unsafeLoad(fromUncheckedByteOffset: end, as: UInt8.self)
            if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C { break }
            end &+= 1
        }
        advance(by: end &- offset)
    }

    /// How many of the sixteen bytes from here on come before the first of those.
    @inline(__always)
    private func plainByteCount(at offset: Int) -> Int {
        let chunk = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: ByteChunk.self)
        let special =
            // With a sign, what is not ASCII is less than 0x20 too.
            (unsafeBitCast(chunk, to: SIMD16<Int8>.self) .< SIMD16<Int8>(repeating: 0x20))
            .| (chunk .== ByteChunk(repeating: 0x22)) .| (chunk .== ByteChunk(repeating: 0x5C))
        return special.firstIndex
    }

    private mutating func skipEscape() throws(JSONError) {
        let start = offset
        guard start + 1 < bytes.byteCount else { throw JSONError(problem: .unexpectedEnd, offset: start) }
        switch bytes[byteAt: start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            advance(by: 2)
        case UInt8(ascii: "u"):
            guard let unit = JSONEscapes.unit(at: start, in: bytes) else {
                throw JSONError(problem: .invalidEscape, offset: start)
            }
            advance(by: 6)
            switch unit {
            case 0xD800...0xDBFF:
                guard let low = JSONEscapes.unit(at: offset, in: bytes), (0xDC00...0xDFFF).contains(low) else {
                    throw JSONError(problem: .loneSurrogate, offset: start)
                }
                advance(by: 6)
            case 0xDC00...0xDFFF: throw JSONError(problem: .loneSurrogate, offset: start)
            default: break
            }
        default: throw JSONError(problem: .invalidEscape, offset: start)
        }
    }
}

/// The escapes of JSON strings.
enum JSONEscapes {
    /// Appends the text of a string that was read and found good, with its escapes resolved.
    static func append(_ string: RawSpan, to output: inout [UInt8]) {
        var runStart = 0
        var offset = 0
        while offset < string.byteCount {
            guard string[byteAt: offset] == UInt8(ascii: "\\"), offset + 1 < string.byteCount else {
                offset += 1
                continue
            }
            output.append(copying: string.extracting(runStart..<offset))
            offset += appendEscape(at: offset, in: string, to: &output)
            runStart = offset
        }
        output.append(copying: string.extracting(runStart..<offset))
    }

    /// How many bytes ``append(_:to:)`` would append.
    static func byteCount(of string: RawSpan) -> Int {
        var count = 0
        var offset = 0
        while offset < string.byteCount {
            guard string[byteAt: offset] == UInt8(ascii: "\\"), offset + 1 < string.byteCount else {
                count += 1
                offset += 1
                continue
            }
            guard let unit = unit(at: offset, in: string) else {
                count += 1
                offset += 2
                continue
            }
            let isPair = (0xD800...0xDBFF).contains(unit)
            count += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
            offset += isPair ? 12 : 6
        }
        return count
    }

    /// The UTF-16 unit that `\uXXXX` at the offset writes, or nothing when something else is there.
    static func unit(at offset: Int, in bytes: RawSpan) -> UInt32? {
        guard offset + 6 <= bytes.byteCount, bytes[byteAt: offset] == UInt8(ascii: "\\"),
            bytes[byteAt: offset + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for digit in offset + 2..<offset + 6 {
            let byte = bytes[byteAt: digit]
            switch byte {
            case 0x30...0x39: unit = unit << 4 | UInt32(byte - 0x30)
            case 0x41...0x46: unit = unit << 4 | UInt32(byte - 0x37)
            case 0x61...0x66: unit = unit << 4 | UInt32(byte - 0x57)
            default: return nil
            }
        }
        return unit
    }

    /// Appends what the escape at the offset stands for; answers the escape's length.
    private static func appendEscape(at offset: Int, in string: RawSpan, to output: inout [UInt8]) -> Int {
        let letter = string[byteAt: offset + 1]
        switch letter {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"):
            guard let unit = unit(at: offset, in: string) else { return 2 }
            guard (0xD800...0xDBFF).contains(unit), let low = self.unit(at: offset + 6, in: string) else {
                append(codePoint: unit, to: &output)
                return 6
            }
            append(codePoint: 0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF), to: &output)
            return 12
        default: output.append(letter)
        }
        return 2
    }

    private static func append(codePoint: UInt32, to output: inout [UInt8]) {
        switch codePoint {
        case ..<0x80: output.append(UInt8(truncatingIfNeeded: codePoint))
        case ..<0x800:
            output.append(0xC0 | UInt8(truncatingIfNeeded: codePoint >> 6))
            output.append(trail(codePoint))
        case ..<0x10000:
            output.append(0xE0 | UInt8(truncatingIfNeeded: codePoint >> 12))
            output.append(trail(codePoint >> 6))
            output.append(trail(codePoint))
        default:
            output.append(0xF0 | UInt8(truncatingIfNeeded: codePoint >> 18))
            output.append(trail(codePoint >> 12))
            output.append(trail(codePoint >> 6))
            output.append(trail(codePoint))
        }
    }

    private static func trail(_ bits: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: bits & 0x3F) }
}
