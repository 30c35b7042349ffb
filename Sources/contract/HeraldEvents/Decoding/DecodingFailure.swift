/// Why a record is no event that can be sent; it becomes a dead letter.
public struct DecodingFailure: Error, Equatable, Sendable {
    /// The class of the mistake: `malformed`, `invalid` or `oversized`.
    public let reason: DeadLetterReason
    /// A sentence for people: what is wrong, where, and what is allowed; without the message's text.
    public let detail: String

    static func malformed(_ detail: String) -> Self { Self(reason: .malformed, detail: detail) }
    static func invalid(_ detail: String) -> Self { Self(reason: .invalid, detail: detail) }
    static func oversized(_ detail: String) -> Self { Self(reason: .oversized, detail: detail) }
}
