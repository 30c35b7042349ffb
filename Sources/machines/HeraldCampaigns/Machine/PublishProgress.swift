package import HeraldEvents
package import HeraldTools

/// How far a publisher is.
package struct PublishProgress: Sendable {
    package internal(set) var recipients: Int
    /// Of these, those whose events are published, by whichever run.
    package internal(set) var published = 0
    package internal(set) var publishedNow = 0
    /// All published events of the campaign, also of recipients that the audience does not have any more.
    package internal(set) var events = 0
    package internal(set) var outcomesPerEvent: Int
    package internal(set) var outcomes = OutcomeCount()

    init(recipients: Int, outcomesPerEvent: Int) {
        self.recipients = recipients
        self.outcomesPerEvent = outcomesPerEvent
    }

    /// The outcomes that there will be at the end.
    package var total: Int { (events + recipients - published) * outcomesPerEvent }

    /// The outcomes that are still to come of what is published.
    package var open: Int { max(0, events * outcomesPerEvent - outcomes.known) }

    /// The outcomes of recipients that are not published.
    package var unpublished: Int { max(0, recipients - published) * outcomesPerEvent }

    /// What is known and was not delivered.
    package var undelivered: Int { max(0, outcomes.known - outcomes.delivered) }

    /// The outcomes of what is published, such as `8 delivered, 1 failed, 2 cancelled, 1 open`.
    package var outcomeWords: String {
        let unreached = outcomes.allUnreached.filter { $0.outcome.standing == .failed || $0.count > 0 }
        let parts = [("delivered", outcomes.delivered)] + unreached.map { ($0.name, $0.count) } + [("open", open)]
        return parts.map { "\(CampaignWords.number($0.1)) \($0.0)" }.joined(separator: ", ")
    }
}

/// What happens to a publisher that people want to know.
package enum PublishNews: Sendable {
    /// It goes on with a campaign of which so many events are published.
    case continues(Int)
    case paused(CampaignControl?)
    case resumed
    /// No broker answers; it goes on trying.
    case unreachable(String)
    /// A step of the ramp begins, up to so many recipients.
    case step(Int)
    /// What follows this step of the ramp begins without so many outcomes of one recipient that goes on failing.
    case goesOnWithout(Int, step: Int)
    case allPublished
}

/// How a publisher came to its end.
package enum PublishEnd: Sendable, Equatable {
    /// Everything is published, and all outcomes are known.
    case complete
    /// It was asked to stop; starting it again continues.
    case interrupted
    /// The campaign was paused because of failures, and no operator watches.
    case paused
    case cancelled
    /// The moment has come at which the events expire, before all were published.
    case expired
    /// Another publisher of the campaign has taken over.
    case takenOver
    case failed(ToolFailure)

    package var name: String {
        switch self {
        case .complete: "complete"
        case .interrupted: "interrupted"
        case .paused: "paused"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .takenOver: "taken-over"
        case .failed: "failed"
        }
    }
}
