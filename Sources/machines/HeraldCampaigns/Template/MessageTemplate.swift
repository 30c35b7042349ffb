internal import HeraldBytes
package import HeraldText

/// A message with Mustache's variable tags, compiled once: `Hi {{first_name}}, …`.
///
/// `{{name}}`, `{{{name}}}` and `{{&name}}` mean the same, the field's text as it is: a notification is no HTML, and nothing is
/// escaped. White space around the name does not count. Every other kind of tag (sections, partials, comments, blocks,
/// other delimiters) is refused.
package struct MessageTemplate: Sendable, Equatable {
    enum Part: Equatable {
        case text(Range<Int>)
        /// A field, by its number in ``MessageTemplate/names``.
        case field(Int)
    }

    package let text: String
    /// The fields that it uses, each once, in the order of their first use.
    package private(set) var names: [String] = []
    private let bytes: [UInt8]
    private(set) var parts: [Part] = []

    /// Compiles a template.
    package init(_ text: String) throws(InputError) {
        self.text = text
        bytes = Array(text.utf8)
        var offset = 0
        while let open = find("{{", from: offset) {
            if open > offset { parts.append(.text(offset..<open)) }
            let (name, end) = try tag(at: open)
            parts.append(.field(number(of: name)))
            offset = end
        }
        if offset < bytes.count { parts.append(.text(offset..<bytes.count)) }
    }

    /// Appends the message; `append` writes the text of the field with this number.
    func render(into output: inout [UInt8], append: (Int, inout [UInt8]) -> Void) {
        for part in parts {
            switch part {
            case .text(let range): output.append(copying: bytes.span.bytes.extracting(range))
            case .field(let number): append(number, &output)
            }
        }
    }

    /// Names in single braces, which are text: `{first_name}` is what other tools call a field.
    package var singleBraces: [String] {
        var found: [String] = []
        for case .text(let range) in parts {
            var start: Int?
            for offset in range {
                switch bytes[offset] {
                case UInt8(ascii: "{"): start = offset + 1
                case UInt8(ascii: "}"):
                    if let start, start < offset {
                        let name = String(decoding: bytes[start..<offset], as: UTF8.self)
                        if !found.contains(name) { found.append(name) }
                    }
                    start = nil
                case let byte where !Self.isNameByte(byte): start = nil
                default: break
                }
            }
        }
        return found
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    private mutating func number(of name: String) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        names.append(name)
        return names.count - 1
    }

    /// The name in the tag that begins here, and where the tag ends.
    private func tag(at open: Int) throws(InputError) -> (name: String, end: Int) {
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
        let name = CellPadding.plain(String(decoding: bytes[start..<close], as: UTF8.self))
        guard !name.isEmpty else { throw mistake(open, "the tag is empty") }
        return (name, close + closing.utf8.count)
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

    private func mistake(_ offset: Int, _ problem: String) -> InputError {
        let before = String(decoding: bytes[..<offset], as: UTF8.self)
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        return InputError(problem, line: lines.count > 1 ? lines.count : nil, column: (lines.last?.count ?? 0) + 1)
    }
}
