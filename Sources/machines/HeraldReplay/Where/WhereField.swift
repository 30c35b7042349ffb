internal import HeraldEvents

/// Which reasons dead letters can have.
package enum WhereReasons: Sendable {
    /// A worker's: those of `DeadLetterReason`.
    case heralds
    /// Whatever class of exception a framework of others has caught.
    case anyException
}

/// What a condition can ask of a dead letter: its headers by their names without `herald-`, and some more.
package enum WhereField: String, CaseIterable, Sendable {
    case id
    /// Whom it was to notify; the record's key when the event does not decode.
    case user
    case pns
    case attempts
    /// The request record, `topic/partition/offset`.
    case origin
    case topic
    case originTimestamp = "origin-timestamp"
    case firstAttemptAt = "first-attempt-at"
    case reason
    /// The last HTTP status.
    case status
    case detail
    case history
    case source
    case campaign
    case deadLetteredAt = "dead-lettered-at"
    /// How often it was replayed before it came here.
    case replays
    /// What stands in the id's place in the idempotency key.
    case key
    /// How long it has been here.
    case age
    /// The hour in which it came here, in UTC: 0 to 23, or `2026-11-21T08`.
    case hour
    case partition
    case offset

    enum Kind {
        case text
        case reason
        case services
        case number
        case moment
        case duration
        case hour
    }

    var kind: Kind {
        switch self {
        case .id, .user, .origin, .topic, .detail, .history, .source, .campaign, .key: .text
        case .reason: .reason
        case .pns: .services
        case .attempts, .status, .replays, .partition, .offset: .number
        case .originTimestamp, .firstAttemptAt, .deadLetteredAt: .moment
        case .age: .duration
        case .hour: .hour
        }
    }

    /// Herald's header of this name; `nil` of what no header says by itself.
    var header: HeaderName? { Self.headers[self] }

    private static let headers = Dictionary(
        HeaderName.all.compactMap { header in Self(named: "\(header)").map { ($0, header) } }
    ) { $1 }

    /// The field of this name, which may be a header's whole name; case does not count.
    init?(named name: String) {
        let name = name.lowercased()
        self.init(rawValue: name.hasPrefix("herald-") ? String(name.dropFirst(7)) : name)
    }
}
