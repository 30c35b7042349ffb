internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// What dead letters are grouped by.
package enum GroupField: String, CaseIterable, Sendable {
    case reason
    /// The last HTTP status.
    case status
    /// The push services; a dead letter of two is in two groups.
    case pns
    case campaign
    case source
    /// The hour in which they came, in UTC.
    case hour

    /// What stands for a value that is not there.
    package static let none = "none"

    /// The groups of a dead letter, by what stands behind the equals sign.
    func values(of entry: DeadLetterEntry) -> [String] {
        switch self {
        case .reason: return [Self.shown(entry.text(.reason))]
        case .status: return [entry.number(.status).map { "\($0)" } ?? Self.none]
        case .pns:
            let names = entry.pushServices
            return names.isEmpty ? [Self.none] : names.map { Self.shown($0) }
        case .campaign: return [Self.shown(entry.text(.campaign))]
        case .source: return [Self.shown(entry.text(.source))]
        case .hour: return [String(entry.deadLetteredAt.text.prefix(13))]
        }
    }

    /// A text that is not taken for none, or for a quoted one.
    private static func shown(_ text: String?) -> String {
        guard let text else { return none }
        return text == none || text.hasPrefix("\"") ? "\"\(text)\"" : text
    }

    /// The condition that means this group.
    func condition(_ value: String) -> Condition? {
        let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        let text = isQuoted ? String(value.dropFirst().dropLast()) : value
        let isAbsent = !isQuoted && value == Self.none
        switch self {
        case .reason:
            if isAbsent { return .text(.reason, .absent) }
            return DeadLetterReason(rawValue: text).map { .text(.reason, .oneOf([Array($0.rawValue.utf8)])) }
        case .campaign, .source:
            let field: WhereField = self == .campaign ? .campaign : .source
            return .text(field, isAbsent ? .absent : .oneOf([Array(text.utf8)]))
        case .pns: return .service(isAbsent ? .absent : .oneOf([Array(text.lowercased().utf8)]))
        case .status:
            if isAbsent { return .number(.field(.status), .absent) }
            return Int64(text).map { .number(.field(.status), .oneOf([$0])) }
        case .hour:
            guard let moment = RFC3339.parse(Array("\(text):00:00Z".utf8).span.bytes) else { return nil }
            return .number(.hourSinceEpoch, .oneOf([moment.milliseconds / Condition.NumberSource.millisecondsPerHour]))
        }
    }
}
