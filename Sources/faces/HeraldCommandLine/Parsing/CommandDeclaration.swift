/// One command, or a group of commands: everything that parsing, help, completion and the manual page need.
package struct CommandDeclaration: Sendable {
    /// A line to type, or an environment variable, and its effect.
    package struct Note: Sendable {
        package let term: String
        package let summary: String

        package init(_ term: String, _ summary: String) {
            self.term = term
            self.summary = summary
        }
    }

    package let name: String
    package let summary: String
    /// Further paragraphs, separated by empty lines; may be empty.
    package let details: String
    /// Its positional arguments, named as their placeholders; the last one may be repeatable and take all remaining words.
    package let arguments: [OptionDeclaration]
    /// Its own options; it also accepts those of the groups above it.
    package private(set) var options: [OptionDeclaration]
    package let examples: [Note]
    /// The environment variables read by it and everything beneath it, with their effects.
    package let environment: [Note]
    /// The commands of a group; a group itself does nothing.
    package let subcommands: [CommandDeclaration]

    /// A command, or a group whose options all its commands accept.
    package init(
        _ name: String, _ summary: String, details: String = "", arguments: [any DeclaredOption] = [],
        options: [any DeclaredOption] = [], examples: [Note] = [], environment: [Note] = [],
        subcommands: [CommandDeclaration] = []
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.arguments = arguments.map(\.declaration)
        self.options = options.map(\.declaration)
        self.examples = examples
        self.environment = environment
        self.subcommands = subcommands
    }

    /// The same command with more options after its own.
    package func adding(_ options: [OptionDeclaration]) -> Self {
        var copy = self
        copy.options += options
        return copy
    }

    package func subcommand(_ name: String) -> Self? { subcommands.first { $0.name == name } }
}

/// A command with the groups above it: its whole name and every option that it accepts.
package struct CommandPath: Sendable {
    package let declarations: [CommandDeclaration]

    package init(root: CommandDeclaration) { declarations = [root] }

    private init(_ declarations: [CommandDeclaration]) { self.declarations = declarations }

    package func descending(to command: CommandDeclaration) -> Self { Self(declarations + [command]) }

    /// The command chosen by those words, without the program's own name; nil when one of them is unknown.
    package func descending(through words: [String]) -> Self? {
        words.reduce(self as Self?) { path, word in
            path.flatMap { path in path.command.subcommand(word).map(path.descending) }
        }
    }

    package var command: CommandDeclaration { declarations[declarations.count - 1] }

    package var words: [String] { declarations.dropFirst().map(\.name) }

    package var name: String { declarations.map(\.name).joined(separator: " ") }

    /// Every option that it accepts: its own, those of the groups above, and `--help`.
    package var options: [OptionDeclaration] {
        let own = declarations.reversed().flatMap(\.options)
        return own + [Self.help] + (own.contains(where: \.isUnused) ? [Self.settings] : [])
            + (declarations.count == 1 ? [Self.version] : [])
    }

    /// This command and all beneath it, groups before their commands.
    package var all: [Self] { [self] + command.subcommands.flatMap { descending(to: $0).all } }

    static let help = OptionDeclaration("help", short: "h", form: .flag, group: "Global options", "Show this help.")
    static let settings = OptionDeclaration(
        "settings", form: .flag, group: "Global options",
        "With --help: show the settings that have no effect on this command, too.")
    static let version = OptionDeclaration("version", form: .flag, group: "Global options", "Show the version.")
}
