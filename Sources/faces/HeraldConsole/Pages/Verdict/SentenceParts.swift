/// What a worker's sentence says, `What happened: what to do.`, in its two parts.
struct SentenceParts: Equatable {
    /// What happened, in the middle of a sentence.
    var what: String
    /// What to do, as a sentence; `nil` when there is no such part.
    var step: String?

    init(_ sentence: String) {
        guard let colon = Self.lastColon(in: sentence) else {
            what = Self.inside(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)
            return
        }
        what = Self.inside(String(sentence[..<colon]))
        let rest = sentence[sentence.index(after: colon)...].drop { $0 == " " }
        step = rest.isEmpty ? nil : rest.prefix(1).uppercased() + rest.dropFirst()
    }

    /// The last colon before a space that does not stand in brackets: these have others' words.
    private static func lastColon(in sentence: String) -> String.Index? {
        var depth = 0
        var found: String.Index?
        for index in sentence.indices {
            switch sentence[index] {
            case "(": depth += 1
            case ")": depth = max(0, depth - 1)
            case ":":
                let next = sentence.index(after: index)
                if depth == 0, next < sentence.endIndex, sentence[next] == " " { found = index }
            default: break
            }
        }
        return found
    }

    /// `The backend …` begins with a small letter within a sentence; names and abbreviations do not.
    private static func inside(_ text: String) -> String {
        let first = text.prefix { $0 != " " }
        let small: Set = [
            "The", "Most", "No", "A", "An", "Offsets", "Nothing", "Events", "Records", "Broker", "Brokers",
        ]
        guard small.contains(String(first)) else { return text }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
