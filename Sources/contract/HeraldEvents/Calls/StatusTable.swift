internal import HeraldTime

/// The class of every HTTP status: the defaults of the design, and the settings' changes.
public struct StatusTable: Sendable, Equatable {
    /// The meanings of statuses by default.
    public static let usual = Self()

    private var classes: [AnswerClass]
    /// The statuses with a meaning changed by the settings.
    private var changed: Set<Int> = []

    /// The defaults with `overrides` on top.
    ///
    /// Statuses outside 100…599 are invalid: the table answers `transient` for them, as for broken HTTP.
    public init(overrides: [Int: AnswerClass] = [:]) {
        classes = (0..<600).map(AnswerClass.init(usual:))
        for (status, value) in overrides where classes.indices.contains(status) { classes[status] = value }
        changed = Set(overrides.keys)
    }

    /// The meanings of statuses, in ranges from 200 to 599.
    public var ranges: [(statuses: ClosedRange<Int>, meaning: AnswerClass)] {
        var ranges: [(statuses: ClosedRange<Int>, meaning: AnswerClass)] = []
        for status in 200..<600 {
            if let last = ranges.last, last.meaning == classes[status] {
                ranges[ranges.count - 1].statuses = last.statuses.lowerBound...status
            } else {
                ranges.append((status...status, classes[status]))
            }
        }
        return ranges
    }

    /// Whether the settings define this status's meaning.
    package func isChanged(_ status: Int) -> Bool { changed.contains(status) }

    /// The class of `status`.
    public subscript(status: Int) -> AnswerClass {
        classes.indices.contains(status) ? classes[status] : .transient
    }

    /// The meaning of an answer: the settings' meaning of its status where they have changed it, else the target's
    /// reading, else the status's usual meaning.
    ///
    /// - Parameter read: `nil` when the status alone decides.
    func verdict(on status: Int, retryAfter: Milliseconds?, read: CallVerdict?) -> CallVerdict {
        if let read, !isChanged(status) { return read }
        return switch self[status] {
        case .delivered: .delivered
        case .transient: status == 429 || status == 503 && retryAfter != nil ? .throttled : .transient
        case .credentials: .credentials
        case .rejected: .rejected
        }
    }
}

extension AnswerClass {
    /// Statuses that may succeed later.
    private static let transientStatuses = [408, 409, 425, 429, 500, 502, 503, 504]

    /// The default meaning of a status.
    init(usual status: Int) {
        self =
            switch status {
            case 200...299: .delivered
            case 401, 403: .credentials
            case _ where Self.transientStatuses.contains(status): .transient
            case 300...499: .rejected
            // 1xx never ends a call, and other 5xx are the server's own trouble.
            default: .transient
            }
    }
}
