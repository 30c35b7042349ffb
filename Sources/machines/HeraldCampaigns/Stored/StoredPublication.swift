internal import HeraldEvents
package import HeraldText
package import HeraldTime
package import HeraldTools

/// A detached campaign that this process takes up: its audience is read back and checked, and then published as any other.
package struct StoredPublication: Sendable {
    private let context: CampaignContext
    private let users: UserRule
    private let maximumEventBytes: Int
    /// Where the audience is read back to.
    private let directory: String

    /// - Parameters:
    ///   - users: `backend.users`.
    ///   - maximumEventBytes: `limits.eventBytes`.
    ///   - directory: of files without names.
    package init(_ context: CampaignContext, users: UserRule, maximumEventBytes: Int, directory: String) {
        (self.context, self.users) = (context, users)
        (self.maximumEventBytes, self.directory) = (maximumEventBytes, directory)
    }

    /// Publishes it to its end, or until something ends it.
    ///
    /// Blocks.
    ///
    /// - Parameters:
    ///   - lookAtTopics: what ``CampaignContext/layout(reach:admin:isWriting:)`` says by now.
    ///   - handsOver: whether it stops because the process ends, so that another one goes on.
    /// - Returns: `nil` when it was stopped before, or another process has taken the campaign up meanwhile.
    package func publish(
        _ campaign: CampaignIndex.Campaign, lookAtTopics: @escaping () throws -> CampaignContext.Layout,
        stoppedBy: @escaping @Sendable () -> String?, handsOver: @escaping @Sendable () -> Bool,
        onNews: @escaping (PublishNews) -> Void, onTurn: @escaping (CampaignMachine, Moment) -> Void
    ) throws -> (end: PublicationEnd, progress: PublishProgress)? {
        guard let definition = campaign.definition, let stored = definition.audience else { return nil }
        let layout = try lookAtTopics()
        let order = try order(definition, stored)
        let isStopping = { stoppedBy() != nil }
        guard
            let file = try context.fetch(
                stored, of: definition.name, layout, into: directory, isStopping: isStopping)
        else { return nil }
        let audience = try Audience(
            file, name: "\(definition.name).jsonl", AudienceForm(format: .jsonl, userColumn: stored.userColumn),
            copyingInto: directory)
        var recipients = RecipientSet()
        guard
            let preview = try AudiencePreview(
                audience, order.text, expiresAt: definition.expiresAt, marking: &recipients,
                into: InvalidLines(keeping: 0), onProgress: { _ in !isStopping() })
        else { return nil }
        guard preview.recipients == stored.recipients, preview.mark == stored.mark else {
            throw AudienceAssembly.failure(
                "it has \(CampaignWords.counted(preview.recipients, "recipient")), and not the "
                    + "\(CampaignWords.number(stored.recipients)) that were written", of: definition.name,
                in: context.topics.audiences)
        }
        // Reading it took its time: a claim would put an end to whoever is at work by now.
        guard let present = try present(definition.name, layout), present.campaign.definition == definition,
            present.isToBeTakenUp, let progress = present.campaign.progress
        else { return nil }
        return context.publish(
            order, layout, audience: audience, counts: preview.counts.keeping(progress), recipients: recipients,
            lookAtTopics: lookAtTopics, stoppedBy: stoppedBy, handsOver: handsOver, onNews: onNews, onTurn: onTurn)
    }

    private func order(_ definition: CampaignDefinition, _ stored: StoredAudience) throws -> CampaignOrder {
        var order = CampaignOrder(
            text: CampaignText(
                name: definition.name, template: try definition.template, pushServices: definition.pns,
                maximumEventBytes: maximumEventBytes, users: users), topic: definition.topic)
        (order.stored, order.exclusions) = (stored, definition.exclusions)
        return order
    }

    private func present(_ name: String, _ layout: CampaignContext.Layout) throws -> CampaignStatus? {
        let reader = try context.campaigns(layout)
        defer { reader.close() }
        try reader.catchUp()
        return reader.index.campaign(name).map {
            CampaignStatus(campaign: $0, count: OutcomeCount(), now: SystemClock.wall())
        }
    }
}

extension AudiencePublication.AudienceCounts {
    /// It with what was said of the file that it was made of: a stored audience has neither repeats nor invalid lines, nor
    /// anybody who is left out.
    func keeping(_ progress: CampaignProgress) -> Self {
        var counts = self
        (counts.repeats, counts.invalid, counts.emptyLines) = (progress.repeats, progress.invalid, progress.emptyLines)
        (counts.excluded, counts.excludedMark) = (progress.excluded ?? [], progress.excludedMark)
        counts.comparedTo = progress.audience
        counts.reading = AudienceReading(
            format: progress.delimiter == nil ? .jsonl : .csv,
            delimiter: progress.delimiter.flatMap { AudienceDelimiter($0) },
            userColumn: progress.userColumn ?? AudienceReader.userName,
            encoding: progress.encoding.flatMap { AudienceEncoding($0) })
        return counts
    }
}
