import HeraldBytes

/// One line for people, as `herald-detail` carries it.
public enum DetailText {
    /// The most bytes that a detail has.
    public static let maximumByteCount = 1_024

    /// Appends the text as one line of valid UTF-8 of at most 1 KiB.
    ///
    /// Control characters and line separators become spaces, bytes that are not UTF-8 become U+FFFD, and the excess is
    /// cut off between two characters.
    public static func append(_ text: RawSpan, to output: inout [UInt8]) {
        let limit = output.count + maximumByteCount
        var offset = 0
        while offset < text.byteCount {
            guard let count = UTF8Text.characterByteCount(at: offset, in: text) else {
                guard output.count + 3 <= limit else { return }
                output.append(text: "\u{FFFD}")
                offset += 1
                continue
            }
            let character = text.extracting(offset..<offset + count)
            let isBreak = isControlOrLineSeparator(character)
            guard output.count + (isBreak ? 1 : count) <= limit else { return }
            if isBreak { output.append(0x20) } else { output.append(copying: character) }
            offset += count
        }
    }

    /// U+0000–001F, U+007F, U+0080–009F, U+2028 and U+2029.
    private static func isControlOrLineSeparator(_ character: RawSpan) -> Bool {
        let first = character[byteAt: 0]
        switch character.byteCount {
        case 1: return first < 0x20 || first == 0x7F
        case 2: return first == 0xC2 && character[byteAt: 1] < 0xA0
        case 3:
            return first == 0xE2 && character[byteAt: 1] == 0x80
                && (character[byteAt: 2] == 0xA8 || character[byteAt: 2] == 0xA9)
        default: return false
        }
    }
}
