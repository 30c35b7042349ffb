internal import HeraldText

extension JSONValue {
    /// It with all texts made safe to show: control characters and marks that steer the writing direction are escaped.
    var safe: JSONValue {
        switch self {
        case .string(let text): .string(SafeText.escaped(text))
        case .array(let values): .array(values.map(\.safe))
        case .object(let members): .object(members.map { .init(SafeText.escaped($0.name), $0.value.safe) })
        case .null, .bool, .integer, .number: self
        }
    }

    /// It with one more member, which takes the place of another of its name; only objects have members.
    func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name } + [.init(name, value)])
    }

    /// The words of a command line.
    static func words(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }
}
