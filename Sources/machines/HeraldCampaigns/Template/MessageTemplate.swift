internal import HeraldBytes
package import HeraldText

/// The fields that templates use, each once, in the order of their first use.
package struct TemplateFields: Sendable, Equatable {
    package private(set) var names: [String] = []
    /// Of each whether every use says what takes its place.
    package private(set) var isOptional: [Bool] = []

    /// Notes a use of a field; the field's number.
    mutating func number(of name: String, isOptional: Bool) -> Int {
        if let known = names.firstIndex(of: name) {
            if !isOptional { self.isOptional[known] = false }
            return known
        }
        names.append(name)
        self.isOptional.append(isOptional)
        return names.count - 1
    }
}

/// A message with Mustache's variable tags, compiled once: `Hi {{first_name}}, …`.
///
/// `{{name}}`, `{{{name}}}` and `{{&name}}` mean the same, the field's text as it is: a notification is no HTML, and nothing is
/// escaped. White space around the name does not count. Beyond Mustache `{{name|friend}}` is `friend` for who has nothing
/// as `name`. Every other kind of tag (sections, partials, comments, blocks, other delimiters) is refused.
package struct MessageTemplate: Sendable, Equatable {
    enum Part: Equatable {
        case text(Range<Int>)
        /// A field, by its number in ``MessageTemplate/fields``, and where the text stands that takes the place of none.
        case field(Int, otherwise: Range<Int>?)
    }

    package let text: String
    /// The fields that it uses.
    package private(set) var fields = TemplateFields()
    let bytes: [UInt8]
    private(set) var parts: [Part] = []

    /// Compiles a template.
    package init(_ text: String) throws(InputError) {
        self.text = text
        bytes = Array(text.utf8)
        var offset = 0
        while let open = find("{{", from: offset) {
            if open > offset { parts.append(.text(offset..<open)) }
            let tag = try tag(at: open)
            let field = fields.number(of: tag.name, isOptional: tag.otherwise != nil)
            parts.append(.field(field, otherwise: tag.otherwise))
            offset = tag.end
        }
        if offset < bytes.count { parts.append(.text(offset..<bytes.count)) }
    }

    /// Appends the message.
    ///
    /// - Parameters:
    ///   - onEmpty: called with the number of a field that has no text, and nothing in its place.
    ///   - append: writes the text of the field with this number.
    func render(
        into output: inout [UInt8], onEmpty: (Int) -> Void = { _ in }, append: (Int, inout [UInt8]) -> Void
    ) {
        for part in parts {
            switch part {
            case .text(let range): output.append(copying: bytes.span.bytes.extracting(range))
            case .field(let number, let otherwise):
                let before = output.count
                append(number, &output)
                guard output.count == before else { continue }
                if let otherwise {
                    output.append(copying: bytes.span.bytes.extracting(otherwise))
                } else {
                    onEmpty(number)
                }
            }
        }
    }

    /// The name in the tag that begins here, what takes the place of none, and where the tag ends.
    private func tag(at open: Int) throws(InputError) -> (name: String, otherwise: Range<Int>?, end: Int) {
        let isTriple = open + 2 < bytes.count && bytes[open + 2] == UInt8(ascii: "{")
        let closing = isTriple ? "}}}" : "}}"
        var start = open + (isTriple ? 3 : 2)
        guard let close = find(closing, from: start) else {
            throw mistake(open, "the tag is not closed with \(closing)")
        }
        start = passSpace(start, close)
        if !isTriple, start < close {
            if bytes[start] == UInt8(ascii: "&") {
                start = passSpace(start + 1, close)
            } else if let kind = Self.otherTags[bytes[start]] {
                throw mistake(start, "\(kind) cannot be used in a message; only fields such as {{first_name}} can")
            }
        }
        for offset in start..<close where "{}\n\r".utf8.contains(bytes[offset]) {
            throw mistake(offset, "a field's name cannot hold a brace or a line's end")
        }
        let bar = bytes[start..<close].firstIndex(of: UInt8(ascii: "|"))
        let name = CellPadding.plain(String(decoding: bytes[start..<(bar ?? close)], as: UTF8.self))
        guard !name.isEmpty else { throw mistake(open, "the tag \(bar == nil ? "is empty" : "names no field")") }
        let otherwise = bar.map { CellPadding.trimmed($0 + 1..<close, of: bytes.span.bytes) }
        return (name, otherwise, close + closing.utf8.count)
    }

    private static let otherTags: [UInt8: String] = [
        UInt8(ascii: "#"): "a section", UInt8(ascii: "^"): "an inverted section", UInt8(ascii: "/"): "a section's end",
        UInt8(ascii: ">"): "a partial", UInt8(ascii: "!"): "a comment", UInt8(ascii: "="): "another delimiter",
        UInt8(ascii: "<"): "a parent", UInt8(ascii: "$"): "a block",
    ]

    private func passSpace(_ start: Int, _ end: Int) -> Int {
        var offset = start
        while offset < end, Self.isSpace(bytes[offset]) { offset += 1 }
        return offset
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private func find(_ text: String, from start: Int) -> Int? {
        let wanted = Array(text.utf8)
        guard bytes.count - start >= wanted.count else { return nil }
        return (start...bytes.count - wanted.count).first { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }

    func mistake(_ offset: Int, _ problem: String) -> InputError {
        let before = String(decoding: bytes[..<offset], as: UTF8.self)
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        return InputError(problem, line: lines.count > 1 ? lines.count : nil, column: (lines.last?.count ?? 0) + 1)
    }
}
