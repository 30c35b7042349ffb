internal import HeraldEvents
internal import HeraldReplay
internal import HeraldTime
internal import HeraldTools

extension TimelineStep {
    /// What happened, in words; texts from records are as they came.
    package var words: String {
        switch kind {
        case .published(let notBefore, let expiresAt):
            "published as \(record)" + (notBefore.map { ", not before \($0.text)" } ?? "")
                + (expiresAt.map { ", expires at \($0.text)" } ?? "")
        case .replayed(let number, let names):
            "replayed as \(record)\(Self.services(names)), replay \(number)"
        case .called(let call):
            "\(call.pushService): \(call.status.map { "\($0)" } ?? call.error ?? "no answer") "
                + "after \(call.duration.count) ms" + (call.mayHaveArrived ? "; may have arrived" : "")
        case .delayed(let reason, let detail, let until, let names):
            "waits in \(record.topic)\(Self.services(names))" + (until.map { " until \($0.text)" } ?? "")
                + (reason.map { ": \($0)" } ?? "") + (detail.map { ": \($0)" } ?? "")
        case .deadLettered(let reason, let detail, let names):
            "dead letter \(record.partition):\(record.offset)\(Self.services(names)): \(reason.rawValue)"
                + (detail.map { ": \($0)" } ?? "") + (fate?.words.map { "; \($0)" } ?? "")
        case .settled(let result): Self.words(result)
        case .reported(let feedback): Self.words(feedback)
        }
    }

    private static func words(_ result: NotificationResult) -> String {
        var text = result.pushService.map { "\($0): " } ?? ""
        text += result.outcome.rawValue
        if let first = result.firstOutcome { text += " of one that was \(first.rawValue)" }
        if let status = result.status { text += " (\(status))" }
        if let attempts = result.attempts, attempts > 0 {
            text += attempts == 1 ? " with 1 call" : " with \(attempts) calls"
            if attempts == 1, let first = result.firstAttemptAt {
                text += " in \(max(0, result.completedAt.time(since: first).count)) ms"
            }
        }
        return text
    }

    private static func words(_ feedback: NotificationFeedback) -> String {
        let outcomes = feedback.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let text = (feedback.pushService.map { "\($0): " } ?? "") + "the hub says "
        let said = outcomes.isEmpty ? feedback.state ?? feedback.conclusion.rawValue : outcomes.joined(separator: ", ")
        return text + said + (feedback.conclusion == .final ? "" : " (\(feedback.conclusion.rawValue))")
    }

    private static func services(_ names: [String]) -> String {
        names.isEmpty ? "" : " for \(names.joined(separator: ", "))"
    }
}
