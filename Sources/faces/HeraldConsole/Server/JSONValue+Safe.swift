internal import HeraldText

extension JSONValue {
    /// The value with all texts made safe to show: control characters and writing-direction marks are escaped.
    var safe: JSONValue {
        switch self {
        case .string(let text): .string(SafeText.escaped(text))
        case .array(let values): .array(values.map(\.safe))
        case .object(let members): .object(members.map { .init(SafeText.escaped($0.name), $0.value.safe) })
        case .null, .bool, .integer, .number: self
        }
    }

    /// The object with one more member, which replaces one of its name; other values stay unchanged.
    func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name } + [.init(name, value)])
    }

    /// The words of a command line.
    static func words(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }
}
