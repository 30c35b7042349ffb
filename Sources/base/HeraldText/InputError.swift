/// A mistake in text or a file that a person wrote, with its place.
package struct InputError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The mistake and the allowed values; without secrets.
    package let message: String
    /// The line, from 1; nil for a mistake in the whole, or in text of one line.
    package let line: Int?
    /// The first wrong character, from 1; nil for a mistake in the line.
    package let column: Int?

    package init(_ message: String, line: Int? = nil, column: Int? = nil) {
        self.message = message
        self.line = line
        self.column = column
    }

    /// Place and message: `line 2, column 5: …`.
    package var description: String {
        let places = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap(\.self)
        return places.isEmpty ? message : places.joined(separator: ", ") + ": " + message
    }
}

/// An argument, a record or a setting violates its rules.
public struct InvalidArgument: Error, Hashable, Sendable, CustomStringConvertible {
    /// The mistake, its place and the allowed values in one line, without secrets and texts of messages.
    public let description: String

    /// An error with its sentence.
    public init(_ description: String) {
        self.description = description
    }
}
