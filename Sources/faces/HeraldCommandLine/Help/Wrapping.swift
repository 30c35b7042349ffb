/// Breaks text into lines at spaces.
enum Wrapping {
    /// Lines of at most `width` characters; a longer word gets a line of its own.
    ///
    /// Later lines start with `hanging` spaces.
    static func lines(_ text: String, width: Int, hanging: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if line.allSatisfy({ $0 == " " }) {
                line += word
            } else if line.count + 1 + word.count <= width {
                line += " " + word
            } else {
                lines.append(line)
                line = String(repeating: " ", count: hanging) + word
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// The pieces of one value, each at most `width` columns: broken behind a comma, and within a word only where there is
    /// none.
    static func pieces(_ text: String, width: Int) -> [String] {
        var pieces: [String] = []
        var rest = text[...]
        while String(rest).displayWidth > width {
            var end = rest.startIndex
            var afterComma: Substring.Index?
            var columns = 0
            while end < rest.endIndex {
                columns += String(rest[end]).displayWidth
                guard columns <= width || end == rest.startIndex else { break }
                let character = rest[end]
                end = rest.index(after: end)
                if character == "," { afterComma = end }
            }
            let cut = afterComma ?? end
            pieces.append(String(rest[..<cut]))
            rest = rest[cut...]
        }
        if !rest.isEmpty || pieces.isEmpty { pieces.append(String(rest)) }
        return pieces
    }
}
