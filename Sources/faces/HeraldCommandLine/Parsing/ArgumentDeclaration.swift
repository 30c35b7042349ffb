/// One positional argument of a command, as declared for parsing, help, completion and the manual page.
package struct ArgumentDeclaration: Sendable {
    /// The type of its value; the placeholder is its name.
    package let value: ValueTraits
    package let isRequired: Bool
    /// Whether it takes all remaining words; only the last argument may.
    package let isRepeatable: Bool
    package let summary: String

    /// The argument in the usage line: `ID`, `[ID]`, `[ID…]`.
    package var notation: String {
        let name = value.placeholder + (isRepeatable ? "…" : "")
        return isRequired ? name : "[\(name)]"
    }
}

/// An argument in a command's list, whatever Swift type its values have.
package protocol DeclaredArgument: Sendable {
    var declaration: ArgumentDeclaration { get }
}

/// An argument whose values have a Swift type: `parsed[Self.id]` reads it.
package struct CommandArgument<Value: Sendable>: DeclaredArgument {
    /// The part without the type.
    package let declaration: ArgumentDeclaration
    let read: @Sendable ([String]) -> Value?
}

extension CommandArgument {
    package static func required(_ type: ValueType<Value>, _ summary: String) -> Self {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: true, isRepeatable: false, summary: summary),
            read: { texts in texts.first.flatMap(type.parse) })
    }

    /// An optional argument; nil when absent.
    package static func optional<Present>(_ type: ValueType<Present>, _ summary: String) -> Self
    where Value == Present? {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: false, isRepeatable: false, summary: summary),
            read: { texts in .some(texts.first.flatMap(type.parse)) })
    }

    /// All remaining words, perhaps none.
    package static func repeated<Element>(_ type: ValueType<Element>, _ summary: String) -> Self
    where Value == [Element] {
        Self(
            declaration: ArgumentDeclaration(
                value: type.traits, isRequired: false, isRepeatable: true, summary: summary),
            read: { texts in texts.compactMap(type.parse) })
    }
}
