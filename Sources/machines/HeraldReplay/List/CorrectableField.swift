internal import HeraldEvents

/// The field of a dead letter's event that a replay can correct, as the detail of its reason names it.
enum CorrectableField {
    private static let all = Set(["user", "message", "pns"] + ContentField.allCases.map(\.rawValue))

    /// The field for which an event is invalid.
    static func wrong(_ reason: DeadLetterReason, _ detail: String?) -> String? {
        reason == .invalid ? field(at: detail) : nil
    }

    /// The field that is too long, which no setting allows: by itself, or for its push service.
    static func tooLong(_ reason: DeadLetterReason?, _ detail: String?) -> String? {
        guard reason == .oversized, let detail else { return nil }
        return field(at: detail)
            ?? detail.firstRange(of: "; shorten ").flatMap { field(at: String(detail[$0.upperBound...])) }
    }

    /// The field whose name a text begins with, perhaps with that of a member.
    private static func field(at detail: String?) -> String? {
        guard let field = detail?.prefix(while: \.isLetter).description else { return nil }
        return all.contains(field) ? field : nil
    }
}
