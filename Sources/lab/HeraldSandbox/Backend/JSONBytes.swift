import HeraldBytes

/// Strings in JSON, where convenience counts more than speed.
enum JSONBytes {
    /// The text as a JSON string with its quotes.
    static func string(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        JSONText.appendString(Array(text.utf8).span.bytes, to: &output)
        return output
    }

    static func text(_ text: String) -> String { String(decoding: string(text), as: UTF8.self) }
}
