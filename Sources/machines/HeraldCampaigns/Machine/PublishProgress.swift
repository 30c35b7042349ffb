package import HeraldEvents
package import HeraldTime
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
    /// The first end of quiet hours, when it ended while all that was open waited for one.
    package internal(set) var asleepUntil: WallTime?

    init(recipients: Int, outcomesPerEvent: Int) {
        self.recipients = recipients
        self.outcomesPerEvent = outcomesPerEvent
    }

    /// The outcomes that there will be at the end.
    package var total: Int { (events + recipients - published) * outcomesPerEvent }

    /// The outcomes that are still to come of what is published.
    package var open: Int { max(0, events * outcomesPerEvent - outcomes.known) }

    package var unpublished: Int { max(0, recipients - published) * outcomesPerEvent }

    /// What is known and was not delivered.
    package var undelivered: Int { max(0, outcomes.known - outcomes.delivered) }

    /// Until when the first of those sleeps that are open, in brackets; nothing when that is not what they wait for.
    private var asleepWords: String {
        guard open > 0, let asleepUntil else { return "" }
        return " (in quiet hours, the first until \(asleepUntil.text))"
    }

    /// The outcomes of what is published, such as `8 delivered, 1 failed, 2 cancelled, 1 open`.
    package var outcomeWords: String {
        let unreached = outcomes.allUnreached.filter { $0.outcome.standing == .failed || $0.count > 0 }
        let parts = [("delivered", outcomes.delivered)] + unreached.map { ($0.name, $0.count) } + [("open", open)]
        return parts.map { "\(CampaignWords.number($0.1)) \($0.0)" }.joined(separator: ", ")
            + asleepWords
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
    /// It waits for its operator with so many recipients published.
    case held(Int, name: String)
}

extension PublishProgress {
    /// How its publisher ended, in a sentence; what a broker said in it is as it came.
    ///
    /// - Parameters:
    ///   - again: how the rest is published.
    ///   - cause: why the campaign is paused, as far as that was said.
    package func sentence(
        _ end: PublicationEnd, name: String, again: String, pausedBecause cause: String? = nil
    ) -> String {
        let rest = published < recipients || end == .interrupted ? "; \(again)" : ""
        let done = "\(CampaignWords.number(published)) of \(CampaignWords.counted(recipients, "recipient")) published"
        let outcomes = "of \(CampaignWords.counted(events * outcomesPerEvent, "notification")) \(outcomeWords)"
        return end.sentence(
            published: done, outcomes: outcomes,
            open: CampaignWords.counted(open, "notification"), rest: rest, rival: "publisher of campaign \(name)",
            failing:
                "The campaign is paused because too many failed\(cause.map { " (\($0))" } ?? ""), \(done): \(outcomes). "
                + "When the cause is gone: herald campaign resume \(name)\(rest).")
    }
}
