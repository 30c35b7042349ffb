internal import HeraldEvents

/// What an operator does about dead letters of a kind.
enum SuggestedAction {
    /// - Parameters:
    ///   - service: the one push service that they are all for; a wrong way to the backend fails the others too.
    ///   - campaign: the one campaign that they are all of; the same holds for others.
    ///   - narrowTopics: the delay topics without room for their retries.
    ///   - fields: what is wrong in events of which a correction can be replayed, such as `user`.
    ///   - mayHaveArrived: how many may have reached the person: a replay notifies those twice, unless the backend
    ///     recognises them.
    static func text(
        _ reason: DeadLetterReason, status: Int64?, service: String?, campaign: String?, longFields: Set<String>,
        narrowTopics: Set<String>, fields: Set<String>, mayHaveArrived: Int
    ) -> String {
        // Its own text says the same.
        doubting(
            text(reason, rejected(status, service, campaign), longFields, narrowTopics, fields),
            reason == .unanswered ? 0 : mayHaveArrived)
    }

    /// Whether a wrong URL or path of the backend gives this status to everything.
    static func mayBeWrongWay(_ status: Int64?) -> Bool { status == 404 || status == 405 }

    /// The same of dead letters that have not one cause.
    ///
    /// - Parameters:
    ///   - counts: how many have which, in words.
    ///   - field: by what they are told apart.
    static func text(mixed counts: [(name: String, count: Int)], field: GroupField, mayHaveArrived: Int) -> String {
        let shown = counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(4)
        let words = shown.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        return doubting(
            "mixed (\(words)\(counts.count > 4 ? " …" : "")): split it by \(field.rawValue) (--group of this one, "
                + "--group-by \(field.rawValue)), and look at each", mayHaveArrived)
    }

    private static func doubting(_ text: String, _ mayHaveArrived: Int) -> String {
        guard mayHaveArrived > 0 else { return text }
        return text
            + "; \(mayHaveArrived) may have arrived (a call got no answer): does the backend honour idempotency keys?"
    }

    private static func text(
        _ reason: DeadLetterReason, _ rejection: String, _ longFields: Set<String>, _ narrowTopics: Set<String>,
        _ fields: Set<String>
    ) -> String {
        switch reason {
        case .malformed: "fix the producer, which must send them again; then resolve"
        case .invalid:
            "fix the producer, which must send them again; then resolve"
                + (fields.isEmpty
                    ? ""
                    : "; or replay them corrected: " + fields.sorted().map { "--set \($0)=…" }.joined(separator: ", "))
        case .oversized where !narrowTopics.isEmpty:
            "raise max.message.bytes of \(narrowTopics.sorted().joined(separator: ", ")) (herald topics apply); then replay"
        case .oversized:
            !longFields.isEmpty
                ? "shorten \(longFields.sorted().joined(separator: ", ")) at the producer, as the detail says; then resolve; or "
                    + "replay corrected: " + longFields.sorted().map { "--set \($0)=…" }.joined(separator: ", ")
                : "raise limits.eventBytes and replay, or have the producer send less and resolve"
        case .rejected: rejection
        case .attemptsExhausted: "replay when the backend is well; what has expired is left out"
        case .timeExhausted: "replay when the backend is well; consider raising retry.maxElapsed"
        case .expired: "resolve: too late to send"
        case .unanswered: "ask the users; replay those who did not see it: the rest would see it twice"
        case .unreadable: "have the publisher send them again; see the runbook, HeraldUnreadableBatch; then resolve"
        case .replaysExhausted: "find the cause; then raise retry.replays, or resolve"
        }
    }

    /// What a dead letter's first step is.
    static func remedy(
        _ reason: DeadLetterReason?, detail: String?, isExpired: Bool
    ) -> DeadLetterView.Remedy {
        if isExpired { return .resolve }
        guard let reason else { return .replay }
        switch reason {
        case .invalid: return CorrectableField.wrong(reason, detail).map { .correct($0) } ?? .resolve
        case .oversized: return CorrectableField.tooLong(reason, detail).map { .correct($0) } ?? .replay
        case .malformed, .expired, .unreadable: return .resolve
        case .rejected, .attemptsExhausted, .timeExhausted, .unanswered, .replaysExhausted: return .replay
        }
    }

    private static func rejected(_ status: Int64?, _ service: String?, _ campaign: String?) -> String {
        let configuration = service.map { "\($0)'s app, credentials and certificate in the backend" }
        return switch status {
        case 401, 403:
            "check the user's permission" + (configuration.map { ", or \($0)" } ?? " at the backend") + ", then replay"
        case .some where mayBeWrongWay(status): wrongWay(configuration, campaign)
        case 410: "resolve: the device is gone"
        case 413: "shorten the message at the producer; then resolve"
        case .some(300...399): "set backend.url to where the backend redirects to, then replay"
        default: "read the detail of the sample; replay when the cause is fixed"
        }
    }

    private static func wrongWay(_ configuration: String?, _ campaign: String?) -> String {
        let way = "backend.url and backend.path"
        if let campaign {
            return "see whether the backend knows the users of campaign \(campaign)"
                + (configuration.map { ", and check \($0)" } ?? "")
                + "; if others are not delivered either, check \(way); then replay or resolve"
        }
        if let configuration {
            return "check \(configuration); if the others are not delivered either, \(way); then replay"
        }
        return "check \(way) if nothing is delivered; else see them by campaign and by pns; then replay"
    }
}
