/// What an audience's fields tell of its encoding: pure.
///
/// A file that has bytes that are no UTF-8, and no character beyond ASCII that is, is in another encoding as a whole.
struct EncodingEvidence: Sendable {
    /// Whether a field had a character beyond ASCII in UTF-8.
    private(set) var hasUTF8 = false
    private var first: (line: Int, byte: UInt8)?

    /// Fields were UTF-8, and not ASCII alone.
    mutating func noteUTF8() { hasUTF8 = true }

    /// A byte of a field that is no UTF-8; in words.
    mutating func note(_ byte: UInt8, of field: String, line: Int) -> String {
        if first == nil { first = (line, byte) }
        return "the \(field) is not UTF-8: \(Self.words(byte))"
    }

    /// What shows that the file cannot be read as UTF-8; `nil` when it can, but for single lines.
    var proof: String? {
        guard let first, !hasUTF8 else { return nil }
        return "line \(first.line) has \(Self.words(first.byte))"
    }

    /// The text of bytes that go into a list as they are; nothing when they are not UTF-8.
    mutating func text(of bytes: [UInt8], line: Int) -> String? {
        if let text = String(validating: bytes, as: UTF8.self) {
            if !hasUTF8, bytes.contains(where: { $0 > 0x7F }) { noteUTF8() }
            return text
        }
        if first == nil, let byte = bytes.first(where: { $0 > 0x7F }) { first = (line, byte) }
        return nil
    }

    /// It with what the fields of another reader of the same file tell.
    func joined(with other: Self) -> Self {
        var joined = hasUTF8 ? self : other
        joined.first = first ?? other.first
        return joined
    }

    private static func words(_ byte: UInt8) -> String { "the byte 0x\(String(byte, radix: 16, uppercase: true))" }
}
