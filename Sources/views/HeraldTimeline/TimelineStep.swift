package import HeraldEvents
package import HeraldReplay
package import HeraldTime
internal import HeraldTools

/// One thing that happened to an event.
package struct TimelineStep: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// A service published it, with these parts beside the message.
        case published(notBefore: WallTime?, expiresAt: WallTime?, content: ContentFields)
        /// Its dead letter was published again, for the so-manieth time, for these push services.
        case replayed(number: Int, pushServices: [String])
        /// The backend was called, and it was not the last word.
        case called(AttemptEntry)
        /// It was put into a delay topic, until a moment.
        case delayed(reason: String?, detail: String?, until: WallTime?, pushServices: [String])
        /// It came to the dead-letter topic.
        case deadLettered(reason: DeadLetterReason, detail: String?, pushServices: [String])
        /// One push service's outcome was recorded; none for an event that does not decode.
        case settled(NotificationResult)
        /// The hub has said what became of a notification that it took.
        case reported(NotificationFeedback)
    }

    package let at: WallTime
    package let kind: Kind
    /// The record that tells it.
    package let record: Origin
    /// Of a dead letter: what decides what became of it.
    package internal(set) var letter: LetterFacts?
    /// Of a dead letter: what became of it; `nil` until that was asked.
    package internal(set) var fate: LetterFate?
    /// Of an outcome: whether the event waited in a delay topic behind its first call, so that the time since then is no
    /// call's.
    var hasWaited = false

    /// What comes first among things of the same moment.
    var rank: Int {
        switch kind {
        case .published: 0
        case .replayed: 1
        case .called: 2
        case .delayed: 3
        case .settled: 4
        case .deadLettered: 5
        case .reported: 6
        }
    }
}

extension TimelineStep {
    /// Of a dead letter: what was wrong.
    var detail: String? { if case .deadLettered(_, let detail, _) = kind { detail } else { nil } }
}

extension TimelineStep {
    /// What happened, in words; texts from records are as they came.
    package var words: String {
        switch kind {
        case .published(let notBefore, let expiresAt, let content):
            "published as \(record)" + (content.isEmpty ? "" : ", with \(content.words)")
                + (notBefore.map { ", not before \($0.text)" } ?? "")
                + (expiresAt.map { ", expires at \($0.text)" } ?? "")
        case .replayed(let number, let names):
            "replayed as \(record)\(Self.services(names)), replay \(number)"
        case .called(let call):
            "\(call.pushService): \(call.status.map { "\($0)" } ?? call.error ?? "no answer") "
                + "after \(call.duration.count) ms" + (call.mayHaveArrived ? "; may have arrived" : "")
        case .delayed(let reason, let detail, let until, let names):
            "waits in \(record.topic)\(Self.services(names))" + (until.map { " until \($0.text)" } ?? "")
                + (reason.map { ": \($0)" } ?? "")
                + (Self.isAboutCall(reason) ? detail.map { ": \($0)" } ?? "" : "")
        case .deadLettered(let reason, let detail, let names):
            "dead letter \(record.partition):\(record.offset)\(Self.services(names)): \(reason.rawValue)"
                + (detail.map { ": \($0)" } ?? "") + (fate?.words.map { "; \($0)" } ?? "")
        case .settled(let result): words(of: result)
        case .reported(let feedback): Self.words(feedback)
        }
    }

    /// Whether the detail of a wait, which is that of the last call, says why it waits.
    private static func isAboutCall(_ reason: String?) -> Bool {
        switch reason.flatMap(RetryReason.init(rawValue:)) {
        case .transient, .throttled, .blocked, .held, nil: true
        case .notBefore, .paused, .preferences, .quietHours: false
        }
    }

    private func words(of result: NotificationResult) -> String {
        var text = result.pushService.map { "\($0): " } ?? ""
        text += result.outcome.rawValue
        if let first = result.firstOutcome { text += " of one that was \(first.rawValue)" }
        if result.outcome == .suppressed, let detail = result.detail { text += ": \(detail)" }
        if let status = result.status { text += " (\(status))" }
        if let attempts = result.attempts, attempts > 0 {
            text += attempts == 1 ? " with 1 call" : " with \(attempts) calls"
            if attempts == 1, let first = result.firstAttemptAt {
                let time = max(.zero, result.completedAt.time(since: first))
                text += hasWaited ? ", \(time.wholeSeconds) s after it was called first" : " in \(time.count) ms"
            }
        }
        if !result.omitted.isEmpty { text += ", without its \(result.omitted.words)" }
        if let why = result.quietIgnored { text += "; its user's quiet hours held nothing (\(why.rawValue))" }
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
