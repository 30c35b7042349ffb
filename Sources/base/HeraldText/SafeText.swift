/// Makes text from outside safe to show on a terminal or in one line of a message.
public enum SafeText {
    /// `text` with control characters, line separators and bidirectional overrides as escapes (`\n`, `\u{202E}`), so
    /// that it can neither move the cursor nor reorder its surroundings.
    public static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if isUnsafe(scalar) {
                    result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }

    /// `text` escaped, in double quotes, and cut after `limit` characters with an ellipsis.
    public static func quoted(_ text: String, limit: Int = 60) -> String {
        let shown = text.count > limit ? text.prefix(limit) + "…" : text[...]
        return "\"\(escaped(String(shown)))\""
    }

    /// `text` with JSON's escapes for the same characters, and for backslashes and perhaps quotes.
    package static func escapedAsJSON(_ text: String, escapingQuotes: Bool = true) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"" where escapingQuotes: result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnsafe(scalar):
                // All of them lie below U+10000.
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Controls (Cc), line and paragraph separators, and the marks, embeddings, overrides and isolates that change the
    /// writing direction.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
