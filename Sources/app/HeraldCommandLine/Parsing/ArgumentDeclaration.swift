/// One positional argument of a command, as parsing, help, completion and the manual page know it.
public struct ArgumentDeclaration: Sendable {
    /// What its value is; the placeholder is its name.
    public let value: ValueTraits
    /// Whether it must be given.
    public let isRequired: Bool
    /// Whether it takes all that is left; only the last argument may.
    public let isRepeatable: Bool
    /// What it is, in one sentence.
    public let summary: String

    /// As it stands in a line of usage: `ID`, `[ID]`, `[ID…]`.
    public var notation: String {
        let name = value.placeholder + (isRepeatable ? "…" : "")
        return isRequired ? name : "[\(name)]"
    }
}

/// An argument whose values have a Swift type: `parsed[Self.id]` reads it.
public struct CommandArgument<Value: Sendable>: Sendable {
    /// The part without the type.
    public let declaration: ArgumentDeclaration
    let read: @Sendable ([String]) -> Value?
}

extension CommandArgument {
    /// It must be given.
    public static func required(_ type: ValueType<Value>, _ summary: String) -> Self {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: true, isRepeatable: false, summary: summary),
            read: { texts in texts.first.flatMap(type.parse) })
    }

    /// Nil when it is not given.
    public static func optional<Present>(_ type: ValueType<Present>, _ summary: String) -> Self
    where Value == Present? {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: false, isRepeatable: false, summary: summary),
            read: { texts in .some(texts.first.flatMap(type.parse)) })
    }

    /// All that are left, perhaps none.
    public static func repeated<Element>(_ type: ValueType<Element>, _ summary: String) -> Self
    where Value == [Element] {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: false, isRepeatable: true, summary: summary),
            read: { texts in texts.compactMap(type.parse) })
    }
}
