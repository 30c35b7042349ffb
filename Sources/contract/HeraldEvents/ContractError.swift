/// Why something does not fit the contract, as a sentence for people.
public struct ContractError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what is allowed.
    public let description: String

    /// An error with its sentence.
    public init(_ description: String) {
        self.description = description
    }
}
