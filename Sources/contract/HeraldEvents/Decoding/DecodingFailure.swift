/// Why a record is no event that can be sent; it becomes a dead letter.
public struct DecodingFailure: Error, Equatable, Sendable {
    /// The class of the mistake: `malformed`, `invalid`, `oversized` or `unreadable`.
    public let reason: DeadLetterReason
    /// A sentence for people: what is wrong, where, and what is allowed; without the message's text.
    public let detail: String

    /// Nobody can read these offsets, for this reason.
    public static func unreadable(_ offsets: Range<Int64>, _ reason: String) -> Self {
        let last = offsets.upperBound - 1
        let which = offsets.count == 1 ? "offset \(last)" : "offsets \(offsets.lowerBound) to \(last)"
        return Self(reason: .unreadable, detail: "\(which) can't be read: \(reason)")
    }

    static func malformed(_ detail: String) -> Self { Self(reason: .malformed, detail: detail) }
    static func invalid(_ detail: String) -> Self { Self(reason: .invalid, detail: detail) }
    static func oversized(_ detail: String) -> Self { Self(reason: .oversized, detail: detail) }
}
