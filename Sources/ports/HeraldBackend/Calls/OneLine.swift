/// Text from outside as one line for people: nothing in it can end a line, move a cursor or turn the writing direction.
enum OneLine {
    /// As long as a line gets, in bytes of UTF-8.
    static let limit = 1_024

    /// The bytes as one line; `nil` when they are not UTF-8 or nothing is left of them.
    static func text(_ bytes: RawSpan) -> String? {
        bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }.flatMap(text)
    }

    /// The bytes as one line without secrets, which are taken out before the end is cut.
    static func text(_ bytes: RawSpan, hiding redaction: Redaction) -> String? {
        bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
            .flatMap { text(redaction.hidingSecrets(in: $0)) }
    }

    /// The text as one line: control and format characters become spaces, spaces are joined, the end is cut.
    static func text(_ text: String) -> String? {
        var line = String.UnicodeScalarView()
        var byteCount = 0
        var isSpaceDue = false
        for scalar in text.unicodeScalars {
            if isBlank(scalar) {
                isSpaceDue = !line.isEmpty
                continue
            }
            byteCount += UTF8.width(scalar) + (isSpaceDue ? 1 : 0)
            if byteCount > limit { break }
            if isSpaceDue { line.append(" ") }
            isSpaceDue = false
            line.append(scalar)
        }
        return line.isEmpty ? nil : String(line)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate,
            .unassigned:
            true
        default: false
        }
    }
}
