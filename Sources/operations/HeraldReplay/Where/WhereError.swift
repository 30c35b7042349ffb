/// What is wrong with a condition, and at which column.
public struct WhereError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The condition as it was given.
    public let text: String
    /// The first character that is wrong, from 1.
    public let column: Int
    /// What is wrong, and what is allowed.
    public let message: String

    /// The column and what is wrong there.
    public var description: String { "column \(column): \(message)" }
}
