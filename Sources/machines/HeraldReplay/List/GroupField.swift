internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// What dead letters are grouped by.
package enum GroupField: String, CaseIterable, Sendable {
    /// A worker's reason, or in a topic of others the class of the exception.
    case reason
    /// The line for people: in a topic of others the exception's message.
    case detail
    /// The topic that they came from.
    case topic
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
    func values(of letter: some GroupedLetter) -> [String] {
        switch self {
        case .reason: return [Self.shown(letter.reasonText)]
        case .status: return [letter.statusNumber.map { "\($0)" } ?? Self.none]
        case .pns:
            let names = letter.pushServices
            return names.isEmpty ? [Self.none] : names.map { Self.shown($0) }
        case .detail: return [Self.shown(letter.detail)]
        case .topic: return [Self.shown(letter.topic)]
        case .campaign: return [Self.shown(letter.campaign)]
        case .source: return [Self.shown(letter.source)]
        case .hour: return [String(letter.deadLetteredAt.text.prefix(13))]
        }
    }

    /// A text that is not taken for none, or for a quoted one.
    private static func shown(_ text: String?) -> String {
        guard let text else { return none }
        return text == none || text.hasPrefix("\"") ? "\"\(text)\"" : text
    }

    /// The condition that means this group.
    func condition(_ value: String, reasons: WhereReasons) -> Condition? {
        let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        let text = isQuoted ? String(value.dropFirst().dropLast()) : value
        let isAbsent = !isQuoted && value == Self.none
        switch self {
        case .reason:
            if isAbsent { return .text(.reason, .absent) }
            guard reasons == .anyException || DeadLetterReason(rawValue: text) != nil else { return nil }
            return .text(.reason, .oneOf([Array(text.utf8)]))
        case .detail, .topic, .campaign, .source:
            let test: Condition.TextTest = isAbsent ? .absent : .oneOf([Array(text.utf8)])
            return WhereField(rawValue: rawValue).map { .text($0, test) }
        case .pns: return .service(isAbsent ? .absent : .oneOf([Array(text.lowercased().utf8)]))
        case .status:
            if isAbsent { return .number(.field(.status), .absent) }
            return Int64(text).map { .number(.field(.status), .oneOf([$0])) }
        case .hour:
            guard let moment = RFC3339.parse(Array("\(text):00:00Z".utf8).span.bytes) else { return nil }
            return .number(.hourSinceEpoch, .oneOf([moment.milliseconds / Milliseconds.hours(1).count]))
        }
    }
}
