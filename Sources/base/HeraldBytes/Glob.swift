/// A text pattern: `*` matches any bytes, `?` one character, and a backslash escapes the next character.
public struct Glob: Equatable, Sendable {
    private enum Part: Equatable {
        case byte(UInt8)
        case anyCharacter
        case anything
    }

    private var parts: [Part] = []

    /// Compiles a pattern; every text is a valid one.
    public init(_ pattern: String) {
        var isEscaped = false
        for byte in pattern.utf8 {
            switch byte {
            case UInt8(ascii: "\\") where !isEscaped:
                isEscaped = true
                continue
            case UInt8(ascii: "*") where !isEscaped: if parts.last != .anything { parts.append(.anything) }
            case UInt8(ascii: "?") where !isEscaped: parts.append(.anyCharacter)
            default: parts.append(.byte(byte))
            }
            isEscaped = false
        }
        if isEscaped { parts.append(.byte(UInt8(ascii: "\\"))) }
    }

    /// Whether the pattern matches the whole text; takes at most pattern length times text length steps.
    public func matches(_ text: RawSpan) -> Bool {
        var (part, offset) = (0, 0)
        // The position to resume at when the parts after the last `*` do not match: one byte later.
        var retry: (part: Int, offset: Int)?
        while offset < text.byteCount {
            if part < parts.count {
                switch parts[part] {
                case .anything:
                    retry = (part + 1, offset)
                    part += 1
                    continue
                case .byte(let wanted) where wanted == text.unsafeLoad(fromByteOffset: offset, as: UInt8.self):
                    part += 1
                    offset += 1
                    continue
                case .anyCharacter:
                    part += 1
                    offset = Self.end(ofCharacterAt: offset, in: text)
                    continue
                case .byte: break
                }
            }
            guard let last = retry else { return false }
            retry = (last.part, last.offset + 1)
            (part, offset) = (last.part, last.offset + 1)
        }
        return parts[part...].allSatisfy { $0 == .anything }
    }

    /// Whether the pattern matches the whole text.
    public func matches(_ text: String) -> Bool { matches(text.utf8.span.bytes) }

    private static func end(ofCharacterAt start: Int, in text: RawSpan) -> Int {
        var end = start + 1
        while end < text.byteCount, text.unsafeLoad(fromByteOffset: end, as: UInt8.self) & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
