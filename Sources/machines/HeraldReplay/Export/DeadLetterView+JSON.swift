internal import HeraldEvents
package import HeraldText
import HeraldTime
internal import HeraldTools

extension DeadLetterView {
    /// What to do first about it, for a shell; `nil` when nothing is to be done.
    package func command(configuration: String?, foreign: ForeignTopic? = nil) -> String? {
        guard fate.isOpen || remedy == .replay || remedy == .wait else { return nil }
        let file = configuration.map { " --config \(Selection.quoted($0))" } ?? ""
        switch remedy {
        case .replay: return replayCommand(configuration: configuration, foreign: foreign)
        case .correct(let member):
            guard omissions.isDisjoint(with: [.key, .value]) else { return nil }
            return "herald dlq replay \(place) --set \(member)=\(member.uppercased())\(file)"
        case .wait:
            guard let name = id ?? origin else { return nil }
            return
                "herald explain \(Selection.quoted(name))\(user.map { " --user \(Selection.quoted($0))" } ?? "")\(file)"
        case .leave, .resolve: return "herald dlq resolve \(place) --note WHY\(file)"
        }
    }

    /// What replays it as it is, for a shell; `nil` when nothing does, or it cannot succeed.
    ///
    /// - Parameters:
    ///   - configuration: the settings file, for the command to type.
    ///   - foreign: the topic of others that it lies in; `nil` for Herald's own.
    package func replayCommand(configuration: String?, foreign: ForeignTopic? = nil) -> String? {
        guard remedy == .replay, fate.state != .resolved, omissions.isDisjoint(with: [.key, .value]) else { return nil }
        let topic = foreign.map { " --topic \(Selection.quoted($0.name))" } ?? ""
        let origin = self.origin?.split(separator: "/").first.map { String($0) }
        let isGoingBack = foreign?.isRequestTopic(origin ?? "") ?? true
        let file = configuration.map { " --config \(Selection.quoted($0))" } ?? ""
        return "herald dlq replay\(topic) \(place)\(isGoingBack ? "" : " --to TOPIC")"
            + "\(fate.state == .replayed ? " --again" : "")\(file)"
    }

    /// Everything as JSON, as `herald dlq show` writes it; message and value only when they are revealed.
    package func object(isRevealed: Bool, configuration: String?, foreign: ForeignTopic? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("place", .string(place)), .init("partition", .integer(Int(partition))),
            .init("offset", .integer(Int(offset))), .init("state", .string(fate.state.rawValue)),
            .init("replayOutcome", .text(fate.outcome?.rawValue)),
            .init(
                "correctedPns",
                fate.correctedPushServices.isEmpty
                    ? .null : .array(fate.correctedPushServices.map(JSONValue.string))),
            .init("id", .text(id)), .init("user", .text(user)),
            .init("pns", .array(pushServices.map(JSONValue.string))), .init("reason", .text(reason)),
            .init("status", .count(status)), .init("detail", .text(detail)),
            .init("attempts", .count(attempts)), .init("replays", .integer(replays)),
            .init("origin", .text(origin)), .init("originTimestamp", .text(originTimestamp?.text)),
            .init("firstAttemptAt", .text(firstAttemptAt?.text)),
            .init("deadLetteredAt", .string(deadLetteredAt.text)), .init("source", .text(source)),
            .init("campaign", .text(campaign)),
            .init("omitted", omissions.isEmpty ? .null : .array(omissions.words.map(JSONValue.string))),
            .init("expiresAt", .text(expiresAt?.text)),
            .init("history", .array(history.map(Self.object))),
            .init("messageBytes", message.map { .integer($0.utf8.count) } ?? .null),
            .init(
                "contentBytes",
                content.fields.isEmpty
                    ? .null
                    : .object(content.fields.fields.map { .init($0.rawValue, .integer(content.byteCount(of: $0))) })),
            .init("replay", .text(replayCommand(configuration: configuration, foreign: foreign))),
            .init("remedy", .string(remedy.name)),
            .init(
                "lastWord",
                said.isEmpty
                    ? .null : .object(said.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })),
            .init("command", .text(command(configuration: configuration, foreign: foreign))),
        ]
        if isRevealed {
            members.append(.init("message", .text(message)))
            members += content.members
            members.append(.init("stackTrace", .text(stackTrace)))
            members.append(.init("value", .text(value.map { String(decoding: $0, as: UTF8.self) })))
        }
        return .present(members)
    }

    private static func object(_ attempt: AttemptEntry) -> JSONValue {
        .present([
            .init("at", .string(attempt.at.text)), .init("pns", .string(attempt.pushService)),
            .init("status", attempt.status.map(JSONValue.integer) ?? .null), .init("error", .text(attempt.error)),
            .init("ms", .integer(Int(attempt.duration.count))),
        ])
    }

    /// One line of a list, as `herald dlq list --group-by none` writes it.
    package var listed: [JSONValue.Member] {
        [
            .init("place", .string(place)), .init("at", .string(deadLetteredAt.text)), .init("id", .text(id)),
            .init("user", .text(user)), .init("pns", .array(pushServices.map(JSONValue.string))),
            .init("reason", .text(reason)), .init("status", .count(status)), .init("attempts", .count(attempts)),
            .init("replays", .integer(replays)), .init("state", .string(fate.state.rawValue)),
            .init("replayOutcome", .text(fate.outcome?.rawValue)), .init("campaign", .text(campaign)),
            .init("detail", .text(detail)),
        ]
    }
}

extension DeadLetterView {
    private static let columns = [
        "place", "deadLetteredAt", "id", "user", "pns", "reason", "status", "attempts", "replays", "state", "origin",
        "source", "campaign", "detail", "replayOutcome",
    ]

    /// The first line of a CSV file of dead letters.
    package static func csvHeading(isRevealed: Bool, delimiter: String = ",") -> String {
        CSVText.line(columns + (isRevealed ? ["message"] : []), delimiter: delimiter)
    }

    /// Its line of a CSV file; the message, or without one the value, only when it is revealed.
    package func csvLine(isRevealed: Bool, delimiter: String = ",") -> String {
        let cells: [String?] =
            [
                place, deadLetteredAt.text, id, user, pushServices.joined(separator: " "), reason,
                status.map { "\($0)" }, attempts.map { "\($0)" }, "\(replays)", fate.state.rawValue, origin, source,
                campaign, detail, fate.outcome?.rawValue,
            ] + (isRevealed ? [message ?? value.map { String(decoding: $0, as: UTF8.self) }] : [])
        return CSVText.line(cells.map { $0 ?? "" }, delimiter: delimiter)
    }
}
