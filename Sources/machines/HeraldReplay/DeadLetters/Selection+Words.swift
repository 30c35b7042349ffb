internal import HeraldBytes
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

extension Selection.Request {
    /// The request that a ``Selection/text`` was made of, as audit entries and leases have it.
    ///
    /// - Returns: `nil` when it is cut, or of another version.
    package init?(text: String) {
        self.init()
        guard let words = Self.words(text) else { return nil }
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                // "and 7 more": which ones is not written.
                if word == "and", rest.count == 2, rest.last == "more" { return nil }
                ids.append(word)
                continue
            }
            guard let value = rest.popFirst(), add(word, value) else { return nil }
        }
        guard isChosen || since != nil || until != nil || !partitions.isEmpty else { return nil }
    }

    private mutating func add(_ option: String, _ value: String) -> Bool {
        switch option {
        case "--group": groups.append(value)
        case "--where": condition = value
        case "--since": since = RFC3339.parse(Array(value.utf8).span.bytes)
        case "--until": until = RFC3339.parse(Array(value.utf8).span.bytes)
        case "--partition": partitions = value.split(separator: ",").compactMap { Int32($0) }
        default: return false
        }
        return true
    }

    /// The words of a text as ``Selection/quoted(_:)`` writes them.
    private static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case "\\" where !isQuoted:
                guard let next = rest.popFirst() else { return nil }
                word = (word ?? "") + String(next)
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(scalar)
            }
        }
        guard !isQuoted else { return nil }
        return words + (word.map { [$0] } ?? [])
    }
}
