/// An option in a command's list: one whose values have a Swift type, or a declaration alone.
package protocol DeclaredOption: Sendable {
    var declaration: OptionDeclaration { get }
}

/// One option of a command, as declared for parsing, help, completion and the manual page.
package struct OptionDeclaration: DeclaredOption {
    package enum Form: Sendable {
        case flag
        case value(ValueTraits)
        /// `true`, `false`, or nothing for `true`; the option's owner checks another attached value.
        case toggle(ValueTraits)
    }

    /// The long name without its dashes; an argument's placeholder.
    package let name: String
    package let short: Character?
    package let form: Form
    package let isRepeatable: Bool
    package let isRequired: Bool
    package let standard: String?
    package let summary: String
    /// The option's heading in help; nil for the command's own options.
    package private(set) var group: String?
    /// Whether it is accepted without effect here, so that help lists it only with `--settings`.
    package private(set) var isUnused: Bool
    /// What it is called elsewhere, in small letters without dashes: a hint at it, and no name of it.
    package private(set) var foreignNames: [String] = []

    /// An option; commands use the factories of ``CommandOption``.
    package init(
        _ name: String, short: Character? = nil, form: Form, isRepeatable: Bool = false, isRequired: Bool = false,
        standard: String? = nil, group: String? = nil, isUnused: Bool = false, _ summary: String
    ) {
        self.name = name
        self.short = short
        self.form = form
        self.isRepeatable = isRepeatable
        self.isRequired = isRequired
        self.standard = standard
        self.group = group
        self.isUnused = isUnused
        self.summary = summary
    }

    package var declaration: Self { self }

    /// The same option under a heading of help.
    package func inGroup(_ group: String) -> Self {
        var copy = self
        copy.group = group
        return copy
    }

    /// The same option of a command on which it has no effect.
    package func unused() -> Self {
        var copy = self
        copy.isUnused = true
        return copy
    }

    /// The same option with names that others have for it.
    package func called(_ names: [String]) -> Self {
        var copy = self
        copy.foreignNames = names
        return copy
    }

    package var value: ValueTraits? {
        switch form {
        case .flag: nil
        case .value(let traits), .toggle(let traits): traits
        }
    }
}

/// An option or argument whose values have a Swift type: `parsed[Self.user]` reads it.
package struct CommandOption<Value: Sendable>: DeclaredOption {
    package let declaration: OptionDeclaration
    /// Makes the value from the given texts, which the parser has checked; nil when they do not fit.
    let read: @Sendable ([String]) -> Value?
}

extension CommandOption {
    /// The same option with names that others have for it; see ``OptionDeclaration/foreignNames``.
    package func called(_ names: [String]) -> Self { Self(declaration: declaration.called(names), read: read) }

    package static func flag(_ name: String, short: Character? = nil, _ summary: String) -> Self where Value == Bool {
        Self(declaration: OptionDeclaration(name, short: short, form: .flag, summary), read: { !$0.isEmpty })
    }

    package static func optional<Present>(
        _ name: String, short: Character? = nil, _ type: ValueType<Present>, _ summary: String
    ) -> Self where Value == Present? {
        Self(
            declaration: OptionDeclaration(name, short: short, form: .value(type.traits), summary),
            read: { texts in .some(texts.last.flatMap(type.parse)) })
    }

    /// With a value; `standard`, in its written form, when not given.
    package static func standard(
        _ name: String, short: Character? = nil, _ type: ValueType<Value>, default standard: String, _ summary: String
    ) -> Self {
        Self(
            declaration: OptionDeclaration(name, short: short, form: .value(type.traits), standard: standard, summary),
            read: { texts in type.parse(texts.last ?? standard) })
    }

    package static func required(
        _ name: String, short: Character? = nil, _ type: ValueType<Value>, _ summary: String
    ) -> Self {
        Self(
            declaration: OptionDeclaration(name, short: short, form: .value(type.traits), isRequired: true, summary),
            read: { texts in texts.last.flatMap(type.parse) })
    }

    package static func repeated<Element>(
        _ name: String, short: Character? = nil, _ type: ValueType<Element>, _ summary: String
    ) -> Self where Value == [Element] {
        Self(
            declaration: OptionDeclaration(name, short: short, form: .value(type.traits), isRepeatable: true, summary),
            read: { texts in texts.compactMap(type.parse) })
    }
}
