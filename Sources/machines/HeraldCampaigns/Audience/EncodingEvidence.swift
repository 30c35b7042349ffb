internal import HeraldTools

/// What an audience's fields tell of its encoding: pure.
///
/// A file that has bytes that are no UTF-8, and no character beyond ASCII that is, is another encoding as a whole: mostly
/// Latin-1, or Windows-1252, which agree in letters.
struct EncodingEvidence: Sendable, Equatable {
    /// Whether a field had a character beyond ASCII in UTF-8.
    private(set) var hasUTF8 = false
    private var first: (line: Int, byte: UInt8)?

    static func == (left: Self, right: Self) -> Bool {
        left.hasUTF8 == right.hasUTF8 && left.first?.line == right.first?.line && left.first?.byte == right.first?.byte
    }

    /// Fields were UTF-8, and not ASCII alone.
    mutating func noteUTF8() { hasUTF8 = true }

    /// A byte that is no UTF-8; in words.
    mutating func note(_ byte: UInt8, line: Int) -> String {
        if first == nil { first = (line, byte) }
        return "the message is not UTF-8: \(Self.words(byte))"
    }

    /// Why the file cannot be read as UTF-8; `nil` when it can, but for single lines.
    var refusal: ToolFailure? {
        guard let first, !hasUTF8 else { return nil }
        return Self.refusal("line \(first.line) has \(Self.words(first.byte))")
    }

    static func refusal(_ proof: String) -> ToolFailure {
        ToolFailure(
            "the audience looks like Latin-1 (Windows-1252), not UTF-8: \(proof). Save it as CSV UTF-8, or convert it: "
                + "iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8.csv")
    }

    private static func words(_ byte: UInt8) -> String {
        let code = String(byte, radix: 16, uppercase: true)
        return "the byte 0x\(code)" + (byte >= 0xA1 ? ", which is \(UnicodeScalar(byte)) in Latin-1" : "")
    }
}
