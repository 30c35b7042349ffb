import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

struct DeadLetterPage {
    let isRevealed: Bool
    let configuration: String?
    /// The topic of others that they lie in; `nil` for Herald's own.
    let foreign: ForeignTopic?
    /// What the workers decode with.
    let decoder: RecordDecoder
    var marks: [String: [MarkRecord]] = [:]

    /// Lines for people; everything from the record is made safe to show.
    func lines(_ letter: DeadLetterView) -> [String] {
        var rows: [(String, String)] = [("place", letter.place), ("state", letter.fate.state.rawValue)]
        if let outcome = letter.fate.outcome {
            let corrected = letter.fate.correctedPushServices
            let services = corrected.isEmpty ? "" : ", for \(corrected.joined(separator: ",")) instead"
            rows.append(("replay", outcome.words + SafeText.escaped(services)))
        }
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
        for field in letter.content.fields.fields {
            add(
                field.rawValue,
                isRevealed
                    ? letter.content.text(of: field)
                    : "(\(letter.content.byteCount(of: field)) bytes; --reveal shows it)")
        }
        for (name, said) in letter.said.sorted(by: { $0.key < $1.key }) {
            add("last word", "\(name): a replay ends as suppressed: \(said.words)")
        }
        for warning in warnings(of: letter) { add("hint", warning) }
        var lines = rows.map { "\($0.0.fitted(toColumns: 12))\($0.1)" }
        if isRevealed, let stackTrace = letter.stackTrace {
            lines +=
                ["", "stack trace"] + stackTrace.split(separator: "\n").map { "  \(SafeText.escaped(String($0)))" }
        }
        lines += ["", "timeline"] + timeline(letter).map { "  \($0)" }
        if letter.history.contains(where: \.mayHaveArrived) {
            lines.append("  a call got no answer: the person may have got it all the same")
        }
        if let command = letter.command(configuration: configuration, foreign: foreign) {
            lines += ["", Self.heading(letter.remedy), "  \(SafeText.escaped(command))"]
        }
        return lines
    }

    /// What `publish --check` would say of a value that is no event: the names of its members, and no text.
    private func warnings(of letter: DeadLetterView) -> [String] {
        guard foreign == nil, letter.message == nil, let value = letter.value else { return [] }
        var check = EventCheck(decoder: decoder, now: SystemClock.wall())
        return check.look(at: value, line: 1).warnings
    }

    private static func heading(_ remedy: DeadLetterView.Remedy) -> String {
        switch remedy {
        case .replay: "replay it"
        case .correct: "replay it corrected; as it is it fails again"
        case .leave: "a replay ends as suppressed, without a call; leave it, or resolve it"
        case .wait: "its replay has no outcome yet: see where it is before you replay it --again"
        case .resolve: "have it sent again if it is still wanted, and resolve this one; a replay fails again"
        }
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
            if isRevealed { return String(decoding: value, as: UTF8.self) }
            return "(\(foreign == nil ? "no event: " : "")\(value.count) bytes; --reveal shows them)"
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
                    "call for \(SafeText.escaped(attempt.pushService)): \(outcome) after \(attempt.duration.count) ms"
                ))
        }
        let known = letter.history.count
        if let attempts = letter.attempts, attempts > known, let moment = letter.firstAttemptAt {
            events.append((moment, "first call; \(Int(attempts) - known) calls are not in the history any more"))
        }
        let reason = letter.reason.map { ": \(SafeText.escaped($0))" } ?? ""
        events.append((letter.deadLetteredAt, "dead letter\(reason)"))
        for mark in marks[letter.place] ?? [] {
            let services = (mark.calls ?? mark.pns).map { " for \(SafeText.escaped($0.joined(separator: ",")))" } ?? ""
            events.append(
                (
                    WallTime(milliseconds: mark.at),
                    "\(mark.state.rawValue)\(services) by job \(SafeText.escaped(mark.job))"
                ))
        }
        return events.sorted { $0.0 < $1.0 }.map { "\($0.0.text)  \($0.1)" }
    }
}
