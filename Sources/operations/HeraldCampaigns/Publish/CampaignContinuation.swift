internal import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// What a start of a campaign that is known comes to: whether its publisher lives, who is left, and whether the audience is
/// the one that it had.
package struct CampaignContinuation: Sendable {
    package let name: String
    /// Who publishes it now, and how long ago that was heard of; `nil` when nobody does.
    package let publisher: (by: String, silence: Duration)?
    /// The audience that it had.
    package let formerRecipients: Int
    /// Of all audiences that it had, those whose events are published.
    package let publishedBefore: Int
    package let isSameAudience: Bool
    /// The recipients of the audience that is given now.
    package let recipients: Int
    /// Of these, those whose events are published.
    package let published: Int

    init(
        _ status: CampaignStatus, _ progress: CampaignProgress, _ preview: AudiencePreview, published: PublishedEvents
    ) {
        name = status.campaign.name
        let silence = Duration.milliseconds(status.silenceMilliseconds ?? 0)
        publisher = status.isPublisherAlive && !status.isOver ? (progress.by, silence) : nil
        formerRecipients = progress.recipients
        publishedBefore = max(published.count, progress.published)
        isSameAudience = progress.isOf(preview.mark, recipients: preview.recipients)
        recipients = preview.recipients
        self.published = published.inAudience
    }

    /// Those who would be notified.
    package var remaining: Int { max(0, recipients - published) }

    /// It in sentences, before somebody is asked.
    package var lines: [String] {
        var lines: [String] = []
        if let publisher {
            lines.append(
                "its publisher \(publisher.by) reported \(CampaignWords.duration(publisher.silence / .seconds(1))) ago and may "
                    + "be at work: a start takes over from it")
        }
        lines.append(
            "\(CampaignWords.counted(published, "recipient")) of this audience \(published == 1 ? "is" : "are") published, "
                + "\(CampaignWords.number(remaining)) \(remaining == 1 ? "remains" : "remain")"
                + (isSameAudience ? ", nobody is new" : ""))
        if !isSameAudience { lines.append(replacement) }
        return lines
    }

    private var replacement: String {
        let left = max(0, formerRecipients - publishedBefore)
        return "it is another audience: the campaign had \(CampaignWords.counted(formerRecipients, "recipient")), "
            + "\(CampaignWords.number(publishedBefore)) are published"
            + (left > 0
                ? ", and of the other \(CampaignWords.number(left)) only those who are in this one would be" : "")
    }

    /// Refuses another audience, unless the order has it replace the former one.
    package func check(_ order: CampaignOrder) throws(ToolFailure) {
        guard !isSameAudience, !order.replacesAudience else { return }
        throw Self.refusal(of: name, replacement)
    }

    static func refusal(of name: String, _ replacement: String) -> ToolFailure {
        ToolFailure(
            "campaign \(name) is not continued, because \(replacement). Start it with the audience that it had, choose "
                + "another name, or add --replace-audience, which its status then says for ever")
    }
}

extension CampaignProgress {
    /// Whether an audience is the one that was read last; what older versions wrote is told by its number.
    func isOf(_ mark: String, recipients: Int) -> Bool {
        audience.map { $0 == mark } ?? (self.recipients == recipients)
    }
}

extension CampaignContext {
    /// Asks Kafka what a start of a campaign comes to: reads back what is published, and marks it.
    ///
    /// - Parameters:
    ///   - recipients: those that the preview has marked.
    ///   - onProgress: how many of how many records were passed; `false` ends it.
    /// - Returns: `nil` when nothing was published yet, or it was ended.
    package func continuation(
        of campaign: CampaignIndex.Campaign, _ layout: Layout, _ preview: AudiencePreview,
        marking recipients: inout RecipientSet, onProgress: (Int64, Int64) -> Bool = { _, _ in true }
    ) throws -> CampaignContinuation? {
        guard let definition = campaign.definition, let progress = campaign.progress else { return nil }
        // A killed publisher's transaction may be open for a while yet: nobody waits for it before the question.
        let published = try PublishedEvents(
            of: definition, progress: nil, self, layout, into: &recipients, upTo: .committed, onProgress: onProgress)
        guard let published else { return nil }
        let count = OutcomeCount(snapshot: progress.outcomes)
        let status = CampaignStatus(campaign: campaign, count: count, now: SystemClock.wall())
        return CampaignContinuation(status, progress, preview, published: published)
    }
}
