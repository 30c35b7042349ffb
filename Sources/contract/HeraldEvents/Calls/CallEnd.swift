/// The end of a call as it is counted: the words of metrics for a ``CallResult``.
public enum CallEnd: Hashable, Sendable, CaseIterable {
    /// With an answer of this class.
    case answered(AnswerClass)
    /// 429, or its equivalent: the backend asks for fewer calls.
    case throttled
    /// Without an answer.
    case unanswered(CallFailure)
    /// The call was not made: the notification exceeds its push service's limit.
    case oversized

    /// All ends: those with an answer first, the reading order.
    public static let allCases: [Self] =
        [.answered(.delivered), .answered(.transient), .throttled, .answered(.credentials), .answered(.rejected)]
        + CallFailure.allCases.map(Self.unanswered) + [.oversized]

    /// The end with this word; `nil` when there is none.
    public init?(word: String) {
        guard let end = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = end
    }

    /// The end under which this call is counted.
    public init(_ result: borrowing CallResult) {
        if let failure = result.failure {
            self = .unanswered(failure)
            return
        }
        self =
            switch result.verdict {
            case .delivered: .answered(.delivered)
            case .transient, .unanswered: .answered(.transient)
            // A 503 with a pause counts among the usual ones for people who watch the backend.
            case .throttled: result.status == 503 ? .answered(.transient) : .throttled
            case .credentials: .answered(.credentials)
            case .rejected: .answered(.rejected)
            case .outage: .answered(AnswerClass(usual: result.status))
            case .oversized: .oversized
            }
    }

    /// The word for it in metrics.
    public var word: String {
        switch self {
        case .answered(let meaning): meaning.rawValue
        case .throttled: "throttled"
        case .unanswered(let failure): failure.label
        case .oversized: "oversized"
        }
    }

    /// Whether such a call is repeated because the push service, or the way to it, is out of order.
    public var isFailure: Bool {
        switch self {
        case .answered(.transient), .unanswered: true
        case .answered(.delivered), .answered(.credentials), .answered(.rejected), .throttled, .oversized: false
        }
    }

    /// Its tone in the console.
    public var tone: Tone {
        switch self {
        case .answered(.delivered): .good
        case .throttled: .warn
        case .answered(.transient), .answered(.credentials), .answered(.rejected), .unanswered, .oversized: .bad
        }
    }
}
