/// What is wrong with a condition, and at which column.
package struct WhereError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The condition as it was given.
    package let text: String
    /// The first character that is wrong, from 1.
    package let column: Int
    /// What is wrong, and what is allowed.
    package let message: String

    /// The column and what is wrong there.
    package var description: String { "column \(column): \(message)" }
}
