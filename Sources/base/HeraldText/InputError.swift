/// What is wrong with a text or a file that a person wrote, and where.
package struct InputError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, and what is allowed; without secrets.
    package let message: String
    /// From 1; nil where it is about the whole, or about a text of one line.
    package let line: Int?
    /// The first character that is wrong, from 1; nil where it is about the line.
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

/// What a caller handed over, or what stands in a record or a setting, is not what it has to be.
public struct InvalidArgument: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what is allowed, in one line, without secrets and messages' texts.
    public let description: String

    /// An error with its sentence.
    public init(_ description: String) {
        self.description = description
    }
}
