internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// How an audience stands to the one that its campaign had.
package enum AudienceChange: Equatable, Sendable {
    /// The same people, in whatever order.
    case none
    /// The same people and more: none of the former audience is lost.
    case grown
    /// Some of the former one may be missing.
    case replaced

    /// - Parameters:
    ///   - beginsWith: the mark of the recipients that come first in it, as many as the former one had.
    ///   - published: how many recipients were published, and how many of them are in the audience.
    ///   - addsPeople: whether it is said to hold people who are added, with the former ones or without them.
    init(
        from former: CampaignProgress, to mark: String, recipients: Int, beginsWith: String?,
        published: (all: Int, inAudience: Int), addsPeople: Bool = false
    ) {
        if former.isOf(mark, recipients: recipients) {
            self = .none
        } else if (beginsWith != nil && beginsWith == former.audience)
            || (former.isComplete && (addsPeople || published.all == published.inAudience))
        {
            // All of the former one were published, or they are the first of this one.
            self = .grown
        } else {
            self = .replaced
        }
    }

    /// How many people a grown audience adds.
    ///
    /// - Parameter published: how many of its recipients are published.
    static func added(to former: CampaignProgress, recipients: Int, published: Int) -> Int {
        max(0, recipients - (former.isComplete ? published : former.recipients))
    }
}

/// What a start of a campaign that is known comes to: whether its publisher lives, which recipients are left, and
/// whether the audience is the one that it had.
package struct CampaignContinuation: Sendable {
    package let name: String
    /// The operator whose process publishes it now, and how long ago it last signed; `nil` when none does.
    package let publisher: (by: String, silence: Duration)?
    /// The audience that it had.
    package let formerRecipients: Int
    /// Of these, or of all audiences that it had, those who are not published.
    private let formerLeft: Int
    /// All who were, or were to be, notified.
    private let formerPeople: Int
    /// The people that the audience adds, where it has grown.
    private let added: Int
    /// Of all audiences that it had, those whose events are published.
    package let publishedBefore: Int
    package let change: AudienceChange
    /// Whether all its outcomes are known.
    package let isFinished: Bool
    /// What a start changes of a campaign that is to begin later, in words; `nil` for others, of which it goes on.
    package let scheduledChanges: [String]?
    /// The recipients of the audience that is given now.
    package let recipients: Int
    /// Of these, those whose events are published.
    package let published: Int
    /// Those whose events are published and who are not in the audience, and how many of their notifications are open.
    package let outside: (recipients: Int, open: Int)

    init(
        _ status: CampaignStatus, _ progress: CampaignProgress, _ preview: AudiencePreview,
        published: PublishedEvents, openOutside: Int, for order: CampaignOrder
    ) {
        let addsPeople = order.addsPeople
        name = status.campaign.name
        let silence = (status.silence ?? .zero).duration
        publisher = status.isPublisherAlive && !status.isOver ? (progress.by, silence) : nil
        (formerRecipients, formerPeople) = (progress.recipients, progress.everybody)
        publishedBefore = max(published.count, progress.published)
        formerLeft = max(0, formerPeople - publishedBefore)
        change = AudienceChange(
            from: progress, to: preview.mark, recipients: preview.recipients,
            beginsWith: preview.beginsWith, published: (published.count, published.inAudience),
            addsPeople: addsPeople)
        added = AudienceChange.added(to: progress, recipients: preview.recipients, published: published.inAudience)
        isFinished = status.isFinished
        scheduledChanges = Self.scheduledChanges(order, status, change, from: progress, to: preview)
        recipients = preview.recipients
        self.published = published.inAudience
        outside = (published.outside, openOutside)
    }

    /// What another start of a campaign that is to begin later changes.
    private static func scheduledChanges(
        _ order: CampaignOrder, _ status: CampaignStatus, _ change: AudienceChange, from former: CampaignProgress,
        to preview: AudiencePreview
    ) -> [String]? {
        guard let definition = status.campaign.definition,
            (try? order.mayReplace(status.campaign, at: status.now)) == true
        else { return nil }
        let start = order.replacing(definition, at: status.now).start
        let begins = start.map { "begins \($0.words)" } ?? "begins at once"
        return
            (start == definition.start
            ? [] : ["it \(begins)" + (definition.start.map { " instead of \($0.words)" } ?? "")])
            + order.contentDifferences(from: definition) + Self.exclusionChanges(order, definition)
            + (change == .none
                ? []
                : [
                    "its audience is another, of \(CampaignWords.counted(preview.recipients, "recipient")) instead of "
                        + CampaignWords.number(former.recipients)
                ])
    }

    private static func exclusionChanges(_ order: CampaignOrder, _ definition: CampaignDefinition) -> [String] {
        switch (definition.exclusions, order.exclusions) {
        case (let former, let present) where former == present: []
        case (let former?, let present?) where former.namesSame(as: present): ["whom it leaves out is found anew"]
        case (_, let present?): ["it leaves people out: \(present.words)"]
        case (_, nil): ["it leaves nobody out"]
        }
    }

    /// The recipients that would be notified.
    package var remaining: Int { max(0, recipients - published) }

    /// The continuation in sentences, before the operator is asked.
    package var lines: [String] {
        var lines: [String] = []
        if let publisher {
            lines.append(
                "its publisher \(publisher.by) reported \(CampaignWords.duration(publisher.silence / .seconds(1))) ago and may "
                    + "be at work: a start takes over from it")
        }
        if let scheduledChanges {
            let changes = scheduledChanges.isEmpty ? "nothing of it changes" : scheduledChanges.joined(separator: "; ")
            lines.append("nobody is published yet: a start replaces what was scheduled; \(changes)")
            return lines
        }
        lines.append(
            "\(CampaignWords.counted(published, "recipient")) of this audience \(published == 1 ? "is" : "are") published, "
                + "\(CampaignWords.number(remaining)) \(remaining == 1 ? "remains" : "remain")"
                + (change == .none ? ", nobody is new" : ""))
        switch change {
        case .none: if isFinished { lines.append("the campaign is finished: nobody is left to notify") }
        case .grown:
            lines.append(
                "\(CampaignWords.counted(added, "recipient")) \(added == 1 ? "is" : "are") added to the "
                    + "\(CampaignWords.number(formerPeople)) that it had, which its status then says")
        case .replaced: lines.append(replacement)
        }
        return lines
    }

    private var replacement: String {
        let left = max(0, formerRecipients - publishedBefore)
        return "it is another audience: the campaign had \(CampaignWords.counted(formerRecipients, "recipient")), "
            + "\(CampaignWords.number(publishedBefore))\(publishedBefore > formerRecipients ? " of all its audiences" : "") "
            + "\(publishedBefore == 1 ? "is" : "are") published"
            + (left > 0
                ? ", and of the other \(CampaignWords.number(left)) only those who are in this one would be" : "")
            + stillSent
    }

    /// What becomes of those who are published and not in the audience.
    private var stillSent: String {
        guard outside.recipients > 0 else { return "" }
        let who =
            "; \(CampaignWords.number(outside.recipients)) of those published \(outside.recipients == 1 ? "is" : "are") "
            + "not in this one, and "
        guard outside.open > 0 else { return who + "no notification of theirs is open any more" }
        return who
            + "\(CampaignWords.counted(outside.open, "notification")) of theirs \(outside.open == 1 ? "is" : "are") still "
            + "open: they are notified all the same"
    }

    /// Refuses another audience, unless the order has it replace the former one.
    package func check(_ order: CampaignOrder) throws(ToolFailure) {
        if scheduledChanges != nil {
            guard !order.addsPeople else { throw Self.tooEarly(name, left: formerLeft) }
            return
        }
        if change != .none, order.lacksResults { throw CampaignExclusions.cut(name, results: "the results topic") }
        guard change == .replaced, !order.replacesAudience else { return }
        throw order.addsPeople ? Self.tooEarly(name, left: formerLeft) : Self.refusal(of: name, replacement)
    }

    /// People may be added in a file of their own only when nobody of the former audience can be lost by it.
    static func tooEarly(_ name: String, left: Int) -> ToolFailure {
        ToolFailure(
            "campaign \(name) takes no people in a file of their own yet, because "
                + "\(CampaignWords.counted(left, "recipient")) that it has \(left == 1 ? "is" : "are") not published. Start it "
                + "again with the audience that it had until all are, and add people then; or add them at that file's end"
        )
    }

    /// Another start was recorded after the audience had been read.
    package static func outdated(_ name: String) -> ToolFailure {
        ToolFailure(
            "campaign \(name) was started by another process since this audience was read, and its audience differs. Start it again: "
                + "then it is compared to the one that the campaign has now")
    }

    static func refusal(of name: String, _ replacement: String) -> ToolFailure {
        ToolFailure(
            "campaign \(name) is not continued, because \(replacement). Start it with the audience that it had (people may be added at its end; "
                + "or alone, with --add-people, once all are published), choose another name, or add --replace-audience, which "
                + "its status then says for ever")
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
    ///   - order: what the start was asked for.
    ///   - onProgress: how many of how many records were passed; `false` ends it.
    /// - Returns: `nil` when nothing was published yet, or it was ended.
    package func continuation(
        of campaign: CampaignIndex.Campaign, _ layout: Layout, _ preview: AudiencePreview,
        marking recipients: inout RecipientSet, for order: CampaignOrder,
        onProgress: (Int64, Int64) -> Bool = { _, _ in true }
    ) throws -> CampaignContinuation? {
        guard let definition = campaign.definition, let progress = campaign.progress else { return nil }
        var published = PublishedEvents(forgetting: &recipients)
        let ids = RecipientIDs(campaign: definition.name)
        let reader = try self.published(definition, layout)
        defer { reader.close() }
        // A killed publisher's transaction may be open for a while yet: the question does not wait for it.
        let isWhole = try reader.catchUp(to: .committed, onProgress: onProgress) { message in
            if let id = PublishedEvents.id(of: message, ids) { published.add(id, to: &recipients) }
        }
        guard isWhole,
            let open = try openOutside(
                published, of: definition, layout, ids, recipients, onProgress: onProgress)
        else { return nil }
        let count = OutcomeCount(snapshot: progress.outcomes)
        let status = CampaignStatus(campaign: campaign, count: count, now: SystemClock.wall())
        return CampaignContinuation(
            status, progress, preview, published: published, openOutside: open, for: order)
    }

    /// How many notifications of people who are published and not in the audience have no outcome; `nil` when it was
    /// ended.
    private func openOutside(
        _ published: PublishedEvents, of definition: CampaignDefinition, _ layout: Layout, _ ids: RecipientIDs,
        _ recipients: RecipientSet, onProgress: (Int64, Int64) -> Bool
    ) throws -> Int? {
        guard published.outside > 0 else { return 0 }
        var count = OutcomeCount()
        let reader = try outcomes(of: [.init(definition)], layout)
        defer { reader.close() }
        let isWhole = try reader.catchUp(onProgress: onProgress) { result in
            guard let user = result.user, recipients.marks(of: ids.id(of: Array(user.utf8).span.bytes)) == .published
            else { return }
            count.add(result, pushServices: definition.pns)
        }
        return isWhole ? max(0, published.outside * definition.pns.count - count.known) : nil
    }
}
