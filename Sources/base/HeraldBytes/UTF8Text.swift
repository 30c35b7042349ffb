/// Checks UTF-8 (RFC 3629) in place.
public enum UTF8Text {
    /// The byte count of the well-formed character at this offset; nil without one.
    @inlinable
    public static func characterByteCount(at offset: Int, in bytes: RawSpan) -> Int? {
        let lead = bytes[byteAt: offset]
        switch lead {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return isTrail(at: offset + 1, in: bytes) ? 2 : nil
        case 0xE0...0xEF:
            let second: ClosedRange<UInt8> = lead == 0xE0 ? 0xA0...0xBF : lead == 0xED ? 0x80...0x9F : 0x80...0xBF
            guard isTrail(at: offset + 1, in: bytes, second), isTrail(at: offset + 2, in: bytes) else { return nil }
            return 3
        case 0xF0...0xF4:
            let second: ClosedRange<UInt8> = lead == 0xF0 ? 0x90...0xBF : lead == 0xF4 ? 0x80...0x8F : 0x80...0xBF
            guard isTrail(at: offset + 1, in: bytes, second), isTrail(at: offset + 2, in: bytes),
                isTrail(at: offset + 3, in: bytes)
            else { return nil }
            return 4
        default: return nil
        }
    }

    /// Whether the bytes are well-formed UTF-8.
    public static func isValid(_ bytes: RawSpan) -> Bool { characterCount(bytes) != nil }

    /// The number of characters (Unicode scalars); nil when the bytes are not well-formed UTF-8.
    public static func characterCount(_ bytes: RawSpan) -> Int? {
        var offset = 0
        var count = 0
        while offset < bytes.byteCount {
            // Eight characters of ASCII at a time.
            if offset &+ 8 <= bytes.byteCount,
                bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                offset &+= 8
                count &+= 8
                continue
            }
            if bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self) < 0x80 {
                offset &+= 1
                count &+= 1
                continue
            }
            guard let length = characterByteCount(at: offset, in: bytes) else { return nil }
            offset += length
            count += 1
        }
        return count
    }

    @inlinable
    static func isTrail(at offset: Int, in bytes: RawSpan, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
        offset < bytes.byteCount && range.contains(bytes[byteAt: offset])
    }
}
