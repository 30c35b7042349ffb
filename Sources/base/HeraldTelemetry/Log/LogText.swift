/// Makes text from any source safe inside a log line: it can neither end the line nor control the terminal.
enum LogText {
    /// Appends the text as a JSON string with its quotes.
    static func appendQuoted(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        appendEscaped(text, escapingQuotes: true, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Appends the text with JSON's escapes for harmful characters.
    static func appendEscaped(_ text: String, escapingQuotes: Bool, to output: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": output += "\\n".utf8
            case "\r": output += "\\r".utf8
            case "\t": output += "\\t".utf8
            case "\"" where escapingQuotes: output += "\\\"".utf8
            case "\\": output += "\\\\".utf8
            case _ where isHarmful(scalar):
                let digits = String(scalar.value, radix: 16)
                output += "\\u".utf8
                output += String(repeating: "0", count: 4 - digits.utf8.count).utf8
                output += digits.utf8
            default: output += Character(scalar).utf8
            }
        }
    }

    /// Whether the text can follow a `=` without quotes.
    static func isPlainWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 != " " && $0 != "\"" && $0 != "=" && $0 != "\\" && $0 != "\u{A0}" && !isHarmful($0)
            }
    }

    /// Control characters, line separators, and marks that change the writing direction; all have at most four digits.
    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
