/// Writes JSON (RFC 8259) as bytes.
public enum JSONText {
    /// Appends UTF-8 text as a JSON string with its quotes.
    ///
    /// It escapes quotes, backslashes, control characters, and U+2028 and U+2029, which old JavaScript treats as line
    /// ends. The text must be valid UTF-8 already: other bytes are copied unchanged.
    public static func appendString(_ utf8: RawSpan, to output: inout [UInt8]) {
        appendString(utf8, from: 0, to: &output)
    }

    /// Appends the rest of a string whose beginning ``write(_:from:to:)`` has written.
    package static func appendString(_ utf8: RawSpan, from start: Int, to output: inout [UInt8]) {
        var rest: Int? = start
        while let start = rest {
            output.append(room: room(for: utf8, from: start)) { rest = write(utf8, from: start, to: &$0) }
        }
    }

    /// The extra room reserved for a string: its quotes and a few escapes.
    @usableFromInline static let escapeRoom = 32

    /// The room that ``write(_:from:to:)`` needs to make progress from an offset in the text.
    @inlinable
    @inline(__always)
    package static func room(for utf8: RawSpan, from start: Int) -> Int { utf8.byteCount - start + escapeRoom }

    /// Writes a string from this offset of its text; offset 0 includes the opening quote.
    ///
    /// - Returns: The offset to resume at with more room, because of many escapes; `nil` when all of it is written.
    package static func write(_ utf8: RawSpan, from start: Int, to writer: inout ByteWriter) -> Int? {
        if start == 0 { writer.write(0x22) }
        var offset = start
        while true {
            offset = writer.write(plain: utf8, from: offset)
            guard offset < utf8.byteCount else { break }
            // Room for the longest escape, the unescaped rest of the text, and the closing quote.
            guard writer.room >= utf8.byteCount - offset + 6 else { return offset }
            offset = write(specialAt: offset, in: utf8, to: &writer)
        }
        writer.write(0x22)
        return nil
    }

    /// Writes the escape of the byte at the offset, where plain bytes end; returns the next offset.
    private static func write(specialAt offset: Int, in utf8: RawSpan, to writer: inout ByteWriter) -> Int {
        let byte = utf8[byteAt: offset]
        switch byte {
        case 0x22: writer.write(text: "\\\"")
        case 0x5C: writer.write(text: "\\\\")
        case 0x08: writer.write(text: "\\b")
        case 0x09: writer.write(text: "\\t")
        case 0x0A: writer.write(text: "\\n")
        case 0x0C: writer.write(text: "\\f")
        case 0x0D: writer.write(text: "\\r")
        case 0xE2:
            guard offset + 2 < utf8.byteCount, utf8[byteAt: offset + 1] == 0x80,
                utf8[byteAt: offset + 2] == 0xA8 || utf8[byteAt: offset + 2] == 0xA9
            else {
                writer.write(byte)
                break
            }
            writer.write(text: utf8[byteAt: offset + 2] == 0xA8 ? "\\u2028" : "\\u2029")
            return offset + 3
        default:
            writer.write(text: "\\u00")
            writer.write(0x30 + (byte >> 4))
            let low = byte & 0xF
            writer.write(low < 10 ? 0x30 + low : 0x57 + low)
        }
        return offset + 1
    }
}

extension ByteWriter {
    /// Writes bytes from `start` up to the first quote, backslash, control character or 0xE2 (the first byte of
    /// U+2028), sixteen at a time; returns that byte's offset, or the end.
    fileprivate mutating func write(plain utf8: RawSpan, from start: Int) -> Int {
        expectRoom(for: utf8.byteCount - start)
        var offset = start
        while offset &+ 16 <= utf8.byteCount {
            let chunk = utf8.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: ByteChunk.self)
            // Bytes of the chunk after a special one are overwritten later.
            next.storeBytes(of: chunk, as: ByteChunk.self)
            let count = Self.special(chunk).firstIndex
            next += count
            offset &+= count
            guard count == 16 else { return offset }
        }
        return writeShort(plain: utf8, from: offset)
    }

    /// The same for fewer than sixteen bytes: as two overlapping words, or one by one.
    private mutating func writeShort(plain utf8: RawSpan, from start: Int) -> Int {
        let count = utf8.byteCount &- start
        if count >= 8 {
            if writeShort(plain: utf8, from: start, UInt64.self) { return utf8.byteCount }
        } else if count >= 4 {
            if writeShort(plain: utf8, from: start, UInt32.self) { return utf8.byteCount }
        }
        var offset = start
        while offset < utf8.byteCount {
            let byte = utf8.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0xE2 { break }
            next.storeBytes(of: byte, as: UInt8.self)
            next += 1
            offset &+= 1
        }
        return offset
    }

    /// Writes one to two words' worth of bytes; writes nothing and returns false when one of them is special.
    @inline(__always)
    private mutating func writeShort<Word: FixedWidthInteger & BitwiseCopyable>(
        plain utf8: RawSpan, from start: Int, _: Word.Type
    ) -> Bool {
        let last = utf8.byteCount &- Word.bitWidth / 8
        let (low, high) = (
            utf8.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: Word.self),
            utf8.unsafeLoadUnaligned(fromUncheckedByteOffset: last, as: Word.self)
        )
        // A shorter word holds each byte twice, which does not matter here.
        let chunk =
            Word.bitWidth == 64
            ? SIMD2(UInt64(low), UInt64(high))
            : SIMD2(repeating: UInt64(low) | UInt64(high) &<< 32)
        guard Self.special(unsafeBitCast(chunk, to: ByteChunk.self)).firstIndex == 16 else { return false }
        next.storeBytes(of: low, as: Word.self)
        next.storeBytes(of: high, toByteOffset: last &- start, as: Word.self)
        next += utf8.byteCount &- start
        return true
    }

    @inline(__always)
    private static func special(_ chunk: ByteChunk) -> ByteChunk.Mask {
        (chunk .< ByteChunk(repeating: 0x20)) .| (chunk .== ByteChunk(repeating: 0x22))
            .| (chunk .== ByteChunk(repeating: 0x5C)) .| (chunk .== ByteChunk(repeating: 0xE2))
    }
}
