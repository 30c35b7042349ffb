internal import HeraldText

/// What other tools call a field and is text here, such as `{first_name}`.
package struct ForeignMark: Sendable, Equatable {
    /// What a tool puts around a field's name.
    private struct Fence {
        var open: [UInt8]
        var close: [UInt8]
        /// Whether it is found in ordinary text: then it is a mark only around what a column is called.
        var isOrdinary: Bool

        init(_ open: String, _ close: String, isOrdinary: Bool = false) {
            (self.open, self.close, self.isOrdinary) = (Array(open.utf8), Array(close.utf8), isOrdinary)
        }

        var hasSpaces: Bool { open.count > 1 }
    }

    /// The longer ones first.
    private static let fences = [
        Fence("{contactfield=", "}"), Fence("*|", "|*"), Fence("%%", "%%"), Fence("[[", "]]"), Fence("<<", ">>"),
        Fence("[%", "%]"), Fence("{$", "}"), Fence("%", "%"), Fence("{", "}"),
        Fence("[", "]", isOrdinary: true), Fence("<", ">", isOrdinary: true), Fence("$", "", isOrdinary: true),
    ]

    /// As it stands in the message.
    package let mark: String
    /// The field that is meant: the column nearest to it, or as it is called in the mark.
    package let name: String

    /// The marks in a text, each once, in its order.
    static func all(in text: ArraySlice<UInt8>, columns: [String]) -> [Self] {
        var found: [Self] = []
        var offset = text.startIndex
        while offset < text.endIndex {
            let match = fences.lazy.compactMap { Self.mark($0, at: offset, of: text, columns) }.first
            offset = match?.end ?? offset + 1
            if let mark = match?.mark, !found.contains(mark) { found.append(mark) }
        }
        return found
    }

    private static func mark(
        _ fence: Fence, at offset: Int, of text: ArraySlice<UInt8>, _ columns: [String]
    ) -> (mark: Self, end: Int)? {
        guard text[offset...].starts(with: fence.open) else { return nil }
        func pass(_ start: Int) -> Int {
            fence.hasSpaces ? text[start...].firstIndex { $0 != 0x20 } ?? text.endIndex : start
        }
        let start = pass(offset + fence.open.count)
        guard start < text.endIndex, isNameStart(text[start]) else { return nil }
        var end = text[start...].firstIndex { !isNameByte($0) } ?? text.endIndex
        // A sentence's end is no part of a name that nothing closes.
        while fence.close.isEmpty, !isNameStart(text[end - 1]), !(0x30...0x39).contains(text[end - 1]) { end -= 1 }
        var close = pass(end)
        var hasDefault = false
        if close < text.endIndex, text[close] == UInt8(ascii: "|"), !text[close...].starts(with: fence.close) {
            // What stands there for people without one: [%first_name|Valued Customer%].
            guard let found = text[close...].prefix(while: { $0 != 0x0A }).firstRange(of: fence.close) else {
                return nil
            }
            (close, hasDefault) = (found.lowerBound, true)
        }
        guard text[close...].starts(with: fence.close) else { return nil }
        let name = String(decoding: text[start..<end], as: UTF8.self)
        let column = column(name, in: columns)
        if fence.isOrdinary || (hasDefault && !fence.hasSpaces), column == nil { return nil }
        let next = close + fence.close.count
        return (Self(mark: String(decoding: text[offset..<next], as: UTF8.self), name: column ?? name), next)
    }

    /// The column that a name means, also behind the name of what it belongs to: `recipient.first_name`.
    private static func column(_ name: String, in columns: [String]) -> String? {
        let last = name.split(separator: ".").last.map(String.init) ?? name
        return [name, last].lazy.compactMap { name in
            columns.first { plain($0) == plain(name) } ?? columns.first { isNear(plain($0), plain(name)) }
        }.first
    }

    /// Whether a letter is wrong; `last_name` is not `first_name`.
    private static func isNear(_ column: String, _ name: String) -> Bool {
        let lengths = [column.utf8.count, name.utf8.count]
        return lengths.allSatisfy { (4...64).contains($0) }
            && Suggestion.distance(Array(column.utf8), Array(name.utf8)) < 2
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private static func isNameStart(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}

extension MessageTemplate {
    /// The marks of other tools in its text, each once.
    ///
    /// - Parameter columns: what the audience's columns are called.
    package func foreignMarks(_ columns: [String]) -> [ForeignMark] {
        var found: [ForeignMark] = []
        for case .text(let range) in parts {
            for mark in ForeignMark.all(in: bytes[range], columns: columns) where !found.contains(mark) {
                found.append(mark)
            }
        }
        return found
    }
}
