/// A JSON value that keeps its members' order.
public indirect enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction; infinity and NaN become `null`.
    case number(Double)
    /// Text.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// Named values in their order.
    case object([Member])

    /// One named value of an object.
    public struct Member: Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// A member of an object.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The value on one line, without spaces.
    public var compact: String {
        var text = ""
        write(to: &text, indentation: nil)
        return text
    }

    /// The value over several lines, indented by two spaces, without a final line feed.
    public var pretty: String {
        var text = ""
        write(to: &text, indentation: 0)
        return text
    }

    /// The member of that name, the last of several; nil without one, or for a value that is not an object.
    public subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    private func write(to text: inout String, indentation: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): text += "\"\(SafeText.escapedAsJSON(value))\""
        case .array(let values):
            Self.write(values, between: ("[", "]"), to: &text, indentation: indentation) { value, text, inner in
                value.write(to: &text, indentation: inner)
            }
        case .object(let members):
            Self.write(members, between: ("{", "}"), to: &text, indentation: indentation) { member, text, inner in
                text += "\"\(SafeText.escapedAsJSON(member.name))\"" + (inner == nil ? ":" : ": ")
                member.value.write(to: &text, indentation: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between brackets: (open: String, close: String), to text: inout String, indentation: Int?,
        each: (Item, inout String, Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 2 }
        text += brackets.open
        for (index, item) in items.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            each(item, &text, inner)
        }
        if let indentation, !items.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
        text += brackets.close
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with its members in the order of writing.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue {
    package static func text(_ text: String?) -> Self { text.map(JSONValue.string) ?? .null }

    package static func count(_ number: Int64?) -> Self { number.map { .integer(Int($0)) } ?? .null }

    /// An object without its absent members.
    package static func present(_ members: [Member]) -> Self { .object(members.filter { $0.value != .null }) }
}
