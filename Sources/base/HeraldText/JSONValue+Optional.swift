extension JSONValue {
    /// A text that may be absent.
    package static func text(_ text: String?) -> Self { text.map(JSONValue.string) ?? .null }

    /// A number that may be absent.
    package static func count(_ number: Int64?) -> Self { number.map { .integer(Int($0)) } ?? .null }

    /// An object without its absent members.
    package static func present(_ members: [Member]) -> Self { .object(members.filter { $0.value != .null }) }
}
