/// What is wrong with a condition, and at which column.
package struct WhereError: Error, Equatable, Sendable, CustomStringConvertible {
    package let text: String
    /// The first character that is wrong, from 1.
    package let column: Int
    package let message: String

    package var description: String { "column \(column): \(message)" }
}
