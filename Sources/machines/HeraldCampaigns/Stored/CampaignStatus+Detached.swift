internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

extension CampaignStatus {
    /// A process takes a detached campaign up so long before its moment: ten million people are read back by then.
    static let takeUpLead: Milliseconds = .minutes(2)

    /// Whether its audience is kept in Kafka, and is the one that it has: then any console or `herald campaign run` may
    /// publish the rest.
    package var isDetached: Bool {
        guard let stored = campaign.definition?.audience, let progress = campaign.progress else { return false }
        // Whoever has stopped it wants nobody else to go on.
        return progress.audience == stored.mark && !progress.isComplete
            && progress.end != PublicationEnd.interrupted.name(.recipients)
    }

    /// Whether a process that has found it may take it up now: it is about to begin or has begun, people are left, and no
    /// publisher is heard of.
    package var isToBeTakenUp: Bool {
        guard isDetached, !isPublisherAlive, !isExpired, campaign.state == .running else { return false }
        guard let start = campaign.definition?.start else { return true }
        return start.moment.time(since: now) <= Self.takeUpLead
    }

    /// Whether nobody publishes it, as it is to be: its moment has not come, or so lately that somebody may still take it up.
    var awaitsTakeUp: Bool {
        guard isDetached, publishedRecipients == 0, let start = campaign.definition?.start else { return false }
        return now.time(since: start.moment) < Self.patience
    }
}
