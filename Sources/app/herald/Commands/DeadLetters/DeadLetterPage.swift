import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

/// A dead letter for people, and as JSON.
struct DeadLetterPage {
    let isRevealed: Bool
    /// The settings file, for the command to type.
    let configuration: String?
    /// What became of dead letters, by their places.
    var marks: [String: [MarkRecord]] = [:]

    /// Lines for people; everything from the record is made safe to show.
    func lines(_ letter: DeadLetterView) -> [String] {
        var rows: [(String, String)] = [("place", letter.place), ("state", letter.state.rawValue)]
        if let outcome = letter.replayOutcome { rows.append(("replay", outcome.words)) }
        func add(_ name: String, _ text: String?) {
            if let text { rows.append((name, SafeText.escaped(text))) }
        }
        add("id", letter.id)
        add("user", letter.user)
        add("pns", letter.pushServices.isEmpty ? nil : letter.pushServices.joined(separator: ","))
        add("reason", letter.reason)
        add("status", letter.status.map { "\($0)" })
        add("detail", letter.detail)
        add("attempts", letter.attempts.map { "\($0)" })
        add("replays", letter.replays > 0 ? "\(letter.replays)" : nil)
        add("origin", letter.origin)
        add("source", letter.source)
        add("campaign", letter.campaign)
        add("left out", leftOut(letter))
        add("expires at", letter.expiresAt?.text)
        add("message", message(letter))
        var lines = rows.map { "\($0.0.fitted(toColumns: 12))\($0.1)" }
        lines += ["", "timeline"] + timeline(letter).map { "  \($0)" }
        if let command = replayCommand(letter) { lines += ["", "replay it", "  \(SafeText.escaped(command))"] }
        return lines
    }

    /// What would not have fit, and where it is.
    private func leftOut(_ letter: DeadLetterView) -> String? {
        guard !letter.omissions.isEmpty else { return nil }
        let words = letter.omissions.words.joined(separator: ", ")
        guard letter.omissions.contains(.value) else { return words + " (too large; the request has it)" }
        return words
            + (letter.isFromOrigin
                ? " (too large; what is shown is the request's)" : " (too large, and the request is gone)")
    }

    private func message(_ letter: DeadLetterView) -> String {
        guard let message = letter.message else {
            guard let value = letter.value else { return "(none)" }
            return isRevealed
                ? String(decoding: value, as: UTF8.self) : "(no event: \(value.count) bytes; --reveal shows them)"
        }
        return isRevealed ? message : "(\(message.utf8.count) bytes; --reveal shows it)"
    }

    private func timeline(_ letter: DeadLetterView) -> [String] {
        var events: [(WallTime, String)] = []
        if let moment = letter.originTimestamp { events.append((moment, "published")) }
        for attempt in letter.history {
            let outcome = attempt.status.map { "\($0)" } ?? SafeText.escaped(attempt.error ?? "no answer")
            events.append(
                (
                    attempt.at,
                    "call for \(SafeText.escaped(attempt.pushService)): \(outcome) after \(attempt.durationMilliseconds) ms"
                ))
        }
        let known = letter.history.count
        if let attempts = letter.attempts, attempts > known, let moment = letter.firstAttemptAt {
            events.append((moment, "first call; \(Int(attempts) - known) calls are not in the history any more"))
        }
        let reason = letter.reason.map { ": \(SafeText.escaped($0))" } ?? ""
        events.append((letter.deadLetteredAt, "dead letter\(reason)"))
        for mark in marks[letter.place] ?? [] {
            let services = mark.pns.map { " for \(SafeText.escaped($0.joined(separator: ",")))" } ?? ""
            events.append(
                (
                    WallTime(milliseconds: mark.at),
                    "\(mark.state.rawValue)\(services) by job \(SafeText.escaped(mark.job))"
                ))
        }
        return events.sorted { $0.0 < $1.0 }.map { "\($0.0.text)  \($0.1)" }
    }

    private func replayCommand(_ letter: DeadLetterView) -> String? {
        guard letter.state != .resolved, letter.omissions.isDisjoint(with: [.key, .value]) else { return nil }
        let file = configuration.map { " --config \(Selection.quoted($0))" } ?? ""
        return "herald dlq replay \(letter.place)\(letter.state == .replayed ? " --again" : "")\(file)"
    }

    /// As JSON; the value itself only when it is revealed.
    func object(_ letter: DeadLetterView) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("place", .string(letter.place)), .init("partition", .integer(Int(letter.partition))),
            .init("offset", .integer(Int(letter.offset))), .init("state", .string(letter.state.rawValue)),
            .init("replayOutcome", .text(letter.replayOutcome?.rawValue)),
            .init("id", .text(letter.id)), .init("user", .text(letter.user)),
            .init("pns", .array(letter.pushServices.map(JSONValue.string))), .init("reason", .text(letter.reason)),
            .init("status", .count(letter.status)), .init("detail", .text(letter.detail)),
            .init("attempts", .count(letter.attempts)), .init("replays", .integer(letter.replays)),
            .init("origin", .text(letter.origin)), .init("originTimestamp", .text(letter.originTimestamp?.text)),
            .init("firstAttemptAt", .text(letter.firstAttemptAt?.text)),
            .init("deadLetteredAt", .string(letter.deadLetteredAt.text)), .init("source", .text(letter.source)),
            .init("campaign", .text(letter.campaign)),
            .init("omitted", letter.omissions.isEmpty ? .null : .array(letter.omissions.words.map(JSONValue.string))),
            .init("expiresAt", .text(letter.expiresAt?.text)),
            .init("history", .array(letter.history.map(Self.object))),
            .init("messageBytes", letter.message.map { .integer($0.utf8.count) } ?? .null),
            .init("replay", .text(replayCommand(letter))),
        ]
        if isRevealed {
            members.append(.init("message", .text(letter.message)))
            members.append(.init("value", .text(letter.value.map { String(decoding: $0, as: UTF8.self) })))
        }
        return .object(members.filter { $0.value != .null })
    }

    private static func object(_ attempt: AttemptEntry) -> JSONValue {
        let members: [JSONValue.Member] = [
            .init("at", .string(attempt.at.text)), .init("pns", .string(attempt.pushService)),
            .init("status", attempt.status.map(JSONValue.integer) ?? .null), .init("error", .text(attempt.error)),
            .init("ms", .integer(Int(attempt.durationMilliseconds))),
        ]
        return .object(members.filter { $0.value != .null })
    }
}

extension ReplayOutcomes.Outcome {
    var words: String {
        switch self {
        case .delivered: "delivered"
        case .failedAgain: "failed again"
        case .notKnown: "not known yet"
        }
    }
}
