package import HeraldEvents

/// How a publication came to its end.
package enum PublicationEnd: Sendable, Equatable {
    /// Everything is published, and all outcomes are known, or were waited for.
    case complete
    /// It was asked to stop; starting it again goes on with the rest.
    case interrupted
    /// Its audience is kept in Kafka, and another process publishes the rest.
    case detached
    /// Too many failed: a replay stops by itself, a campaign is paused and nobody watches.
    case failing
    /// The outcomes of a step did not come.
    case outcomeTimeout
    case cancelled
    /// The moment has come at which the events expire, before all were published.
    case expired
    /// Another process has taken over.
    case takenOver
    /// It failed; what was published is recorded.
    case failed(ToolFailure)

    /// Its word in records and JSON: two of them differ between dead letters and recipients.
    package func name(_ content: JobWaitReason.Step.Content) -> String {
        switch self {
        case .complete: "complete"
        case .interrupted: content == .letters ? "paused" : "interrupted"
        case .detached: "detached"
        case .failing: content == .letters ? "stopped" : "paused"
        case .outcomeTimeout: "outcome-timeout"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .takenOver: "taken-over"
        case .failed: "failed"
        }
    }
}

extension PublicationEnd {
    /// How it ended and what to do, in a sentence; what a broker said in it is as it came.
    ///
    /// - Parameters:
    ///   - published: how much is, such as `3 of 5 dead letters replayed`.
    ///   - outcomes: what became of that.
    ///   - open: the notifications without an outcome.
    ///   - rest: what another start does, such as `; run it again to continue with the rest`.
    ///   - rival: who may have taken over.
    ///   - failing: the sentence that too many failed.
    package func sentence(
        published: String, outcomes: String, open: String, rest: String, rival: String, failing: String
    ) -> String {
        switch self {
        case .complete: "\(published): \(outcomes)."
        case .interrupted: "Interrupted, \(published), \(open) without an outcome\(rest)."
        case .detached:
            "Detached, \(published): a console or herald campaign run publishes the rest when it is due."
        case .failing: failing
        case .outcomeTimeout: "Stopped, \(published): \(open) had no outcome within --wait. Do workers run?"
        case .cancelled: "The campaign was cancelled, \(published): \(outcomes)."
        case .expired: "The events have expired, \(published): \(outcomes). Nothing more is sent."
        case .takenOver: "Another \(rival) has taken over; nobody is notified twice: \(published)."
        case .failed(let failure): "\(failure); \(published)\(rest)"
        }
    }
}
