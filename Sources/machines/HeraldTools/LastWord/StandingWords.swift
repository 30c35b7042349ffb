internal import HeraldCore
package import HeraldEvents
package import HeraldText
package import HeraldTime

/// What users and recalls say now about events that wait, or that a replay would publish again: by the rule of workers'
/// calls.
package struct StandingWords: Sendable {
    /// Why an event is not called on a push service.
    package enum Said: Equatable, Sendable {
        case recalled(Recall, ofCampaign: Bool)
        /// - Parameters:
        ///   - what: As `optOut` has it: `promotional`; `it` where that is not told.
        ///   - fault: What is wrong with the user's record, which counts as that opt-out; `nil` for the user's own word.
        case optedOut(_ what: String, since: WallTime?, by: String?, fault: String? = nil)

        /// It as a continuation of "because", with texts from records as they came.
        package var words: String {
            switch self {
            case .recalled(let recall, let isOfCampaign):
                (isOfCampaign ? "its campaign is recalled" : "it is recalled")
                    + Self.origin(since: recall.at, by: recall.by) + (recall.reason.map { ": \($0)" } ?? "")
            case .optedOut(let what, let since, let by, nil):
                "the user has opted out of \(what)" + Self.origin(since: since, by: by)
            case .optedOut(let what, let since, let by, let fault?):
                "a broken record counts as the user's opt-out of \(what)" + Self.origin(since: since, by: by)
                    + ": \(fault)"
            }
        }

        /// It for programs.
        package var json: JSONValue {
            switch self {
            case .recalled(let recall, _):
                .present([
                    .init("reason", .string(SuppressionReason.recalled.rawValue)), .init("detail", .string(words)),
                    .init("since", .text(recall.at?.text)), .init("by", .text(recall.by)),
                ])
            case .optedOut(_, let since, let by, let fault):
                .present([
                    .init("reason", .string(SuppressionReason.optedOut.rawValue)), .init("detail", .string(words)),
                    .init("since", .text(since?.text)), .init("by", .text(by)), .init("problem", .text(fault)),
                ])
            }
        }

        private static func origin(since: WallTime?, by: String?) -> String {
            (by.map { " by \($0)" } ?? "") + (since.map { " since \($0.text)" } ?? "")
        }
    }

    /// An event as its records name it, with the class that it says of itself.
    package struct Event: Sendable {
        package var id: String?
        package var user: String
        package var source: String?
        package var campaign: String?
        package var eventClass: EventClass?
        /// The request topic that it is in.
        package var topic: String

        package init(
            id: String?, user: String, source: String?, campaign: String?, eventClass: EventClass?, topic: String
        ) {
            (self.id, self.user, self.source, self.campaign) = (id, user, source, campaign)
            (self.eventClass, self.topic) = (eventClass, topic)
        }

        /// What may be recalled of it: itself, and its campaign.
        var subjects: [Recall.Subject] {
            (id.map { [.event(id: $0, user: user, source: source)] } ?? []) + (campaign.map { [.campaign($0)] } ?? [])
        }
    }

    private let table: LastWord
    private let pushServices: PushServices
    private let classes: [String: EventClass]
    private let words: [String: LastWordContext.Entry]
    private let recalls: [Recall.Subject: Recall]
    /// Whether it tells neither what users said, nor since when and by whom: who wants to know that looks at the user's word.
    package let isDiscreet: Bool

    /// - Parameters:
    ///   - words: What stands in the topic of some users, those who have said nothing left out.
    ///   - recalls: What is recalled of what was asked for.
    ///   - classes: Those of request topics that are not transactional.
    package init(
        _ words: [String: LastWordContext.Entry], _ recalls: [Recall.Subject: Recall], pushServices: PushServices,
        classes: [String: EventClass], isDiscreet: Bool = false
    ) {
        (self.words, self.recalls, self.pushServices, self.classes) = (words, recalls, pushServices, classes)
        self.isDiscreet = isDiscreet
        table = LastWord(hashSeed: 0, pushServices: pushServices, maxLag: .zero)
        for (user, entry) in words {
            table.set(entry.preference.optOut, quiet: entry.preference.quiet, of: user.utf8.span.bytes)
        }
        for subject in recalls.keys {
            switch subject {
            case .campaign(let name): table.recall(campaign: name.utf8.span.bytes, true)
            case .event(let id, let user, let source?):
                table.recall(id: id.utf8.span.bytes, source: source.utf8.span.bytes, user: user.utf8.span.bytes, true)
            case .event(let id, let user, nil):
                table.recall(id: id.utf8.span.bytes, source: nil, user: user.utf8.span.bytes, true)
            }
        }
    }

    /// Why an event is not called on a push service; `nil` when nobody has said so.
    package func said(of event: Event, on pushService: String) -> Said? {
        guard let service = pushServices.index(of: pushService.utf8.span.bytes) else { return nil }
        let eventClass = max(event.eventClass ?? .transactional, classes[event.topic] ?? .transactional)
        let ending = table.ending(
            id: event.id, user: event.user, source: event.source, campaign: event.campaign, of: eventClass, on: service)
        switch ending {
        case .recalled?:
            let own = event.id.flatMap { recalls[.event(id: $0, user: event.user, source: event.source)] }
            return .recalled(
                own ?? event.campaign.flatMap { recalls[.campaign($0)] } ?? Recall(), ofCampaign: own == nil)
        case .optedOut? where isDiscreet: return .optedOut("it", since: nil, by: nil)
        case .optedOut(let what)?:
            let word = words[event.user]
            return .optedOut(what, since: word?.saidAt, by: word?.preference.by, fault: word?.fault)
        case nil: return nil
        }
    }

    /// A user's word as the topic has it; `nil` when the user has said nothing.
    ///
    /// Whether it may be told says ``isDiscreet``.
    package func word(of user: String) -> LastWordContext.Entry? { words[user] }
}
