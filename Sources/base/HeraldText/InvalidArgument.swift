/// An argument, a record or a setting violates its rules.
public struct InvalidArgument: Error, Hashable, Sendable, CustomStringConvertible {
    /// The mistake, its place and the allowed values in one line, without secrets and texts of messages.
    public let description: String

    /// An error with its sentence.
    public init(_ description: String) {
        self.description = description
    }
}
