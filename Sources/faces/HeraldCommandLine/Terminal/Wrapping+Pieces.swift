import HeraldText

extension Wrapping {
    /// Splits one value into pieces of at most `width` columns: after a comma, or within a word when there is none.
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
