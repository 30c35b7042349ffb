internal import HeraldText

/// Text from anywhere, as text in HTML: nothing in it is markup, and nothing steers the writing direction.
enum HTMLText {
    /// The text for between tags and in quoted attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in SafeText.escaped(text).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
