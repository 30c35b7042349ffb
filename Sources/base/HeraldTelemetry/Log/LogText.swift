import HeraldText

/// Makes text from any source safe inside a log line: it can neither end the line nor control the terminal.
enum LogText {
    /// Appends the text as a JSON string with its quotes.
    static func appendQuoted(_ text: String, to output: inout [UInt8]) {
        output += "\"\(SafeText.escapedAsJSON(text))\"".utf8
    }

    /// Whether the text can follow a `=` without quotes.
    static func isPlainWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                !" \"=\\\u{A0}".unicodeScalars.contains($0) && !SafeText.isUnsafe($0)
            }
    }
}
