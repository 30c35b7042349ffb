import HeraldText

/// A value as written, before any setting gives it a type: a scalar, a list or a map, with its place.
package struct SettingNode: Sendable {
    /// A one-based line and column of the settings file.
    struct Position: Sendable, Equatable {
        let line: Int
        let column: Int
    }

    /// One `key: value` of a map; duplicates are kept.
    struct Entry: Sendable {
        let key: String
        let position: Position?
        let value: SettingNode
    }

    enum Content: Sendable {
        /// A key without a value, or a plain `null` or `~`.
        case nothing
        case scalar(String)
        case list([SettingNode])
        case map([Entry])
    }

    let content: Content
    /// Absent for the environment and flags.
    let position: Position?

    init(_ content: Content, at position: Position? = nil) {
        self.content = content
        self.position = position
    }
}

extension SettingNode {
    /// The interpretation of one line of text, from the environment or a flag, as a node.
    package enum Shape: Sendable {
        case scalar
        /// `a,b`; `\,` is a comma inside of an element.
        case list
        /// `k=v,k=v`; `\,` is a comma inside of a value.
        case map
        /// `name,name=weight`.
        case weightedList

        /// Whether a flag may be repeated, each adding to the list or map.
        package var isRepeatable: Bool { self != .scalar }
    }

    /// Reads `texts` (several when a flag was repeated) in that shape.
    init(texts: [String], shape: Shape) {
        switch shape {
        case .scalar:
            self.init(.scalar(texts.last ?? ""))
        case .list:
            self.init(.list(Self.split(texts).map { Self(.scalar($0)) }))
        case .map:
            self.init(.map(Self.split(texts).map(Self.entry)))
        case .weightedList:
            let elements = Self.split(texts).map { text in
                let entry = Self.entry(text)
                guard case .scalar = entry.value.content else { return Self(.scalar(text)) }
                let name = Entry(key: "name", position: nil, value: Self(.scalar(entry.key)))
                return Self(.map([name, Entry(key: "weight", position: nil, value: entry.value)]))
            }
            self.init(.list(elements))
        }
    }

    private static func entry(_ text: String) -> Entry {
        guard let equals = text.firstIndex(of: "=") else {
            return Entry(key: text, position: nil, value: Self(.nothing))
        }
        let value = String(text[text.index(after: equals)...])
        return Entry(key: trimmed(text[..<equals]), position: nil, value: Self(.scalar(trimmed(value[...]))))
    }

    private static func split(_ texts: [String]) -> [String] {
        var parts: [String] = []
        for text in texts where !trimmed(text[...]).isEmpty {
            var part = ""
            var isEscaped = false
            for character in text {
                switch (character, isEscaped) {
                case ("\\", false): isEscaped = true
                case (",", false):
                    parts.append(trimmed(part[...]))
                    part = ""
                case (let character, true):
                    if character != "," { part.append("\\") }
                    part.append(character)
                    isEscaped = false
                case (let character, false): part.append(character)
                }
            }
            if isEscaped { part.append("\\") }
            parts.append(trimmed(part[...]))
        }
        return parts
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
