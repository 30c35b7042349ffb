internal import HeraldBytes

package enum XMLText {
    /// Appends text with everything escaped that means something in content or in an attribute.
    ///
    /// Characters that XML 1.0 cannot hold (controls but tab, line feed and carriage return, U+FFFE, U+FFFF) become
    /// U+FFFD. The bytes must be UTF-8.
    package static func append(_ text: RawSpan, to output: inout [UInt8]) {
        var start = 0
        for offset in 0..<text.byteCount {
            guard let (replacement, extra) = replacement(text, offset) else { continue }
            output.append(copying: text.extracting(start..<offset))
            output.append(text: replacement)
            start = offset + 1 + extra
        }
        output.append(copying: text.extracting(start..<text.byteCount))
    }

    /// The text with everything escaped, as ``append(_:to:)`` does.
    package static func escaped(_ text: String) -> String {
        var output: [UInt8] = []
        append(Array(text.utf8).span.bytes, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// What stands in place of a byte, and of so many behind it.
    private static func replacement(_ text: RawSpan, _ offset: Int) -> (StaticString, Int)? {
        switch text[byteAt: offset] {
        case UInt8(ascii: "&"): return ("&amp;", 0)
        case UInt8(ascii: "<"): return ("&lt;", 0)
        case UInt8(ascii: ">"): return ("&gt;", 0)
        case UInt8(ascii: "\""): return ("&quot;", 0)
        // A bare carriage return would be read as a line feed.
        case 0x0D: return ("&#13;", 0)
        case 0x09, 0x0A: return nil
        case 0..<0x20: return ("\u{FFFD}", 0)
        case 0xEF
        where offset + 2 < text.byteCount && text[byteAt: offset + 1] == 0xBF && text[byteAt: offset + 2] >= 0xBE:
            return ("\u{FFFD}", 2)
        default: return nil
        }
    }
}
