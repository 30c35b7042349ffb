/// Breaks text into lines at spaces.
package enum Wrapping {
    /// Lines of at most `width` characters; a longer word gets a line of its own.
    ///
    /// Later lines start with `hanging` spaces.
    package static func lines(_ text: String, width: Int, hanging: Int = 0) -> [String] {
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
}
