package struct ParsedCommand: Sendable {
    package let path: CommandPath
    /// The given options and arguments, by name, with their values in order; a flag has one empty value per use.
    package let options: [String: [String]]

    /// The value of an option or argument of this command, or of an option of a group above it.
    package subscript<Value>(_ option: CommandOption<Value>) -> Value {
        guard let value = option.read(options[option.declaration.name] ?? []) else {
            preconditionFailure("--\(option.declaration.name) is no option of \(path.name), or its default is wrong")
        }
        return value
    }

    package func has(_ option: any DeclaredOption) -> Bool { options[option.declaration.name] != nil }

    /// A mistake between options that are each right on their own.
    package func mistake(_ message: String) -> UsageError { UsageError(message, command: path.name) }
}

/// A command line that was not understood; exit status 2.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The mistake, with a suggestion if there is one.
    package let message: String
    /// The command so far, for the hint to its `--help`.
    package let command: String

    package init(_ message: String, command: String) {
        self.message = message
        self.command = command
    }

    /// Two lines: the mistake, and a hint to the help.
    package var description: String { "\(message)\nTry: \(command) --help" }
}
