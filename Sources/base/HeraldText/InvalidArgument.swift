/// What a caller handed over, or what stands in a record or a setting, is not what it has to be.
public struct InvalidArgument: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what is allowed, in one line, without secrets and messages' texts.
    public let description: String

    /// An error with its sentence.
    public init(_ description: String) {
        self.description = description
    }
}
