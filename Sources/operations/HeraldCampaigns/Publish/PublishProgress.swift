public import HeraldEvents
public import HeraldTools

/// How far a publisher is.
public struct PublishProgress: Sendable {
    /// What it does.
    public enum Phase: Sendable, Equatable {
        /// It finds out what was published before.
        case readingBack
        /// It publishes.
        case publishing
        /// It waits until it may publish more: too many outcomes are open.
        case waitingForOutcomes
        /// It waits for the outcomes of a step of the ramp.
        case waitingForStep(Int)
        /// It waits for the last outcomes.
        case finishing
        /// It waits for the campaign to be resumed.
        case paused
        /// It waits for a broker.
        case unreachable
    }

    /// What it does.
    public internal(set) var phase = Phase.readingBack
    /// Recipients of the audience.
    public internal(set) var recipients: Int
    /// Of these, those whose events are published, by whichever run.
    public internal(set) var published = 0
    /// Those that this run has published.
    public internal(set) var publishedNow = 0
    /// All published events of the campaign, also of recipients that the audience does not have any more.
    public internal(set) var events = 0
    /// The number of push services.
    public internal(set) var outcomesPerEvent: Int
    /// The outcomes that are known.
    public internal(set) var outcomes = OutcomeCount()
    /// Since when no outcome has come although some are open.
    public internal(set) var silentSince: ContinuousClock.Instant?

    init(recipients: Int, outcomesPerEvent: Int) {
        self.recipients = recipients
        self.outcomesPerEvent = outcomesPerEvent
    }

    /// The outcomes that there will be at the end.
    public var total: Int { (events + recipients - published) * outcomesPerEvent }

    /// The outcomes that are still to come of what is published.
    public var open: Int { max(0, events * outcomesPerEvent - outcomes.known) }

    /// What was not delivered.
    public var failed: Int { max(0, outcomes.known - outcomes.delivered) }
}

/// What happens to a publisher that people want to know.
public enum PublishNews: Sendable {
    /// It goes on with a campaign of which so many events are published.
    case continues(Int)
    /// The campaign was paused.
    case paused(CampaignControl?)
    /// The campaign goes on.
    case resumed
    /// No broker answers; it goes on trying.
    case unreachable(String)
    /// A step of the ramp begins, up to so many recipients.
    case step(Int)
    /// All recipients are published.
    case allPublished
}

/// How a publisher came to its end.
public enum PublishEnd: Sendable, Equatable {
    /// Everything is published, and all outcomes are known.
    case complete
    /// It was asked to stop; starting it again continues.
    case interrupted
    /// The campaign was paused because of failures, and nobody watches.
    case paused
    /// The campaign was cancelled.
    case cancelled
    /// The moment has come at which the events expire, before all were published.
    case expired
    /// Another publisher of the campaign has taken over.
    case takenOver
    /// It failed.
    case failed(ToolFailure)

    /// Its name in reports and the audit.
    public var name: String {
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
