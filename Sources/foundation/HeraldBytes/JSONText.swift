/// Writing JSON (RFC 8259) as bytes.
public enum JSONText {
    /// Appends UTF-8 text as a JSON string with its quotes.
    ///
    /// Escaped are quotes, backslashes, control characters, and U+2028 and U+2029, which old JavaScript takes for
    /// line ends. The text has to be valid UTF-8 already: other bytes are copied as they are.
    public static func appendString(_ utf8: RawSpan, to output: inout [UInt8]) {
        output.append(0x22)
        var runStart = 0
        var offset = 0
        while true {
            offset = plainEnd(utf8, from: offset)
            guard offset < utf8.byteCount else { break }
            let byte = utf8[byteAt: offset]
            if byte == 0xE2 {
                guard offset + 2 < utf8.byteCount, utf8[byteAt: offset + 1] == 0x80,
                    utf8[byteAt: offset + 2] == 0xA8 || utf8[byteAt: offset + 2] == 0xA9
                else {
                    offset += 1
                    continue
                }
                output.append(copying: utf8.extracting(runStart..<offset))
                output.append(text: utf8[byteAt: offset + 2] == 0xA8 ? "\\u2028" : "\\u2029")
                offset += 3
            } else {
                output.append(copying: utf8.extracting(runStart..<offset))
                appendEscape(of: byte, to: &output)
                offset += 1
            }
            runStart = offset
        }
        output.append(copying: utf8.extracting(runStart..<offset))
        output.append(0x22)
    }

    /// The offset of the first byte from `offset` on that is a quote, a backslash, a control character or 0xE2, with which
    /// U+2028 begins; eight bytes at a time.
    private static func plainEnd(_ utf8: RawSpan, from offset: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var offset = offset
        while offset + 8 <= utf8.byteCount {
            let word = UInt64(littleEndian: utf8.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let separators = word ^ (ones &* 0xE2)
            // The high bit marks a byte below 0x20 or equal to one of the three; a borrow can only mark bytes above the
            // first that is really marked, and only the first one counts.
            let special =
                ((word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
                    | (separators &- ones) & ~separators) & (ones &* 0x80)
            if special != 0 { return offset + special.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < utf8.byteCount {
            let byte = utf8[byteAt: offset]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0xE2 { break }
            offset += 1
        }
        return offset
    }

    private static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case 0x22: output.append(text: "\\\"")
        case 0x5C: output.append(text: "\\\\")
        case 0x08: output.append(text: "\\b")
        case 0x09: output.append(text: "\\t")
        case 0x0A: output.append(text: "\\n")
        case 0x0C: output.append(text: "\\f")
        case 0x0D: output.append(text: "\\r")
        default:
            output.append(text: "\\u00")
            output.append(0x30 + (byte >> 4))
            let low = byte & 0xF
            output.append(low < 10 ? 0x30 + low : 0x57 + low)
        }
    }
}
