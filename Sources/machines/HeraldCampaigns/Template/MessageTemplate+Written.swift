internal import HeraldBytes
package import HeraldText

extension MessageTemplate {
    /// Compiles a template as a person has written it: an editor's byte order mark is none of it, and its lines end with LF.
    ///
    /// What looks like another tool's filter is refused here alone: a message that was accepted before stays readable.
    package init(written text: String) throws(InputError) {
        let unmarked = text.unicodeScalars.drop { $0 == "\u{FEFF}" }
        try self.init(String(unmarked).replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
        try refuseFilters()
    }

    /// Filters of Liquid, Twig and the like that are written without an argument; in capitals they are texts.
    private static let filters: Set<String> = [
        "capfirst", "capitalize", "default", "downcase", "e", "escape", "first", "h", "html", "last", "length", "lower",
        "lowercase", "nl2br", "raw", "safe", "size", "strip", "strip_html", "striptags", "title", "titlecase", "trim",
        "truncate", "truncatewords", "upcase", "upper", "uppercase", "url_encode", "urlencode",
    ]

    private func refuseFilters() throws(InputError) {
        for case .field(let number, let otherwise?) in parts where Self.isFilter(text(otherwise)) {
            let shown = SafeText.quoted(text(otherwise))
            throw mistake(
                otherwise.lowerBound,
                "\(shown) looks like a filter, which a message cannot have; behind the bar stands the text for who has "
                    + "nothing as \(fields.names[number]), as it is: {{\(fields.names[number])|\(Self.meant(text(otherwise)))}}"
            )
        }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Whether a text reads as code: another bar, a text in quotes, or a filter, alone or with an argument.
    private static func isFilter(_ text: String) -> Bool {
        guard let first = text.first else { return false }
        if first == "|" || isQuote(first) && text.last == first && text.count > 1 { return true }
        let name = String(text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        guard filters.contains(name) else { return false }
        let rest = text.dropFirst(name.count)
        if name == "default", rest.first == " " { return true }
        return rest.drop { $0 == " " }.first.map { "(:|".contains($0) } ?? true
    }

    /// The text in quotes, which the filter would have put in.
    private static func meant(_ text: String) -> String {
        guard let start = text.firstIndex(where: isQuote) else { return "friend" }
        let quoted = text[text.index(after: start)...].prefix { $0 != text[start] }
        return quoted.isEmpty ? "friend" : String(quoted)
    }

    private static func isQuote(_ character: Character) -> Bool { character == "\"" || character == "'" }
}
