/// Why a tool could not do what it was asked for, as sentences for people.
public struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of end it is.
    public enum Kind: Sendable {
        /// It failed.
        case failed
        /// No broker answers.
        case unreachable
    }

    /// What kind of end it is.
    public let kind: Kind
    /// What went wrong and how to mend it.
    public let description: String

    /// A failure with its sentences.
    public init(_ description: String, kind: Kind = .failed) {
        self.kind = kind
        self.description = description
    }
}
