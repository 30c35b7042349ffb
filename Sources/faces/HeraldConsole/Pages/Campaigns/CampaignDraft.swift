internal import HeraldCampaigns
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// A campaign before its start: its audience is read, then it waits for a confirmation.
struct CampaignDraft: Sendable {
    /// Larger counts must be typed.
    static let typedAbove = 100
    static let mostRecipients = 10_000_000
    static let keptInvalidLines = 10_000

    struct Outcome: Sendable {
        let preview: CampaignPreview
        let audience: Audience
        /// CSV with the first invalid lines; empty without any.
        let invalidLines: [UInt8]
    }

    let owner: String
    let upload: String
    /// ``StartForm/hash`` of the previewed form; a start must name it.
    let hash: String
    var order: CampaignOrder
    let form: StartForm
    let file: String
    /// Whom it is to leave out; `nil` when nobody is.
    var wish: ExclusionWish?
    var passed = 0
    var total = 0
    var outcome: Outcome?

    /// The parts of the notifications that the preview's viewer did not type: with any, all stay masked.
    private var untyped: [String] {
        let typed = (form.content ?? CampaignContent()).continuing(nil).texts.map(\.name)
        return (form.message?.isEmpty == false ? [] : ["message"])
            + order.text.template.content.texts.map(\.name).filter { !typed.contains($0) }
    }

    /// The equivalent command; where the page asks to confirm leaving invalid lines out, the command allows them.
    ///
    /// - Parameter isMessageMasked: whether every viewer of the job may see it.
    func command(isMessageMasked: Bool) -> [String] {
        var order = order
        if outcome?.preview.refusal != nil { order.maxInvalid = 1 }
        return form.command(order, file: file, isMessageMasked: isMessageMasked)
    }

    /// The count that must be typed to start it; `nil` when none must.
    var typed: Int? {
        outcome.map(\.preview.toNotify).flatMap { $0 > Self.typedAbove ? $0 : nil }
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", outcome == nil ? "reading" : "done"), .init("passed", .integer(passed)),
            .init("total", .integer(total)), .init("command", .words(command(isMessageMasked: false))),
            .init("hash", .string(hash)),
        ]
        if let outcome {
            let preview = outcome.preview
            let untyped = untyped
            members += [
                .init(
                    "preview",
                    .object(preview.shownMembers.filter { untyped.isEmpty || !Self.content.contains($0.name) })),
                .init("untyped", .words(untyped)),
                .init("standing", .words(preview.continuation?.lines ?? [])),
                .init("duration", .string(preview.duration)), .init("continues", .bool(preview.isContinued)),
                .init("keptInvalidLines", .integer(min(preview.audience.invalid, Self.keptInvalidLines))),
            ]
            if let typed { members.append(.init("typed", .integer(typed))) }
        }
        return JSONValue.object(members).safe
    }

    /// The members of a preview that have texts of the notifications.
    private static let content: Set<String> = ["samples", "longest", "emptiest", "warnings"]

    /// These members, of a preview whose message was not typed by its viewer; `nil` while the audience is read.
    var messages: JSONValue? {
        outcome.map { outcome in
            JSONValue.object(outcome.preview.shownMembers.filter { Self.content.contains($0.name) }).safe
        }
    }

    /// Reads the audience.
    ///
    /// - Parameter standing: the consequence of starting a known campaign.
    static func preview(
        _ asked: CampaignDraft, _ audience: Audience, of campaign: CampaignIndex.Campaign?,
        _ work: AskedTasks<CampaignDraft>.Work,
        excluding: (CampaignDraft, (Int, Int) -> Bool) throws -> FoundExclusions? = { _, _ in nil },
        standing: (CampaignOrder, AudiencePreview, inout RecipientSet) throws -> CampaignContinuation? = { _, _, _ in
            nil
        }
    ) throws {
        var draft = asked
        draft.total = audience.byteCount
        work.publish(draft)
        let invalid = InvalidLines(keeping: keptInvalidLines)
        var exclusions: FoundExclusions?
        if asked.wish != nil {
            exclusions = try excluding(asked) { passed, total in
                (draft.passed, draft.total) = (passed, total)
                work.publish(draft)
                return work.isWanted
            }
            guard let found = exclusions else { return }
            (draft.order.exclusions, draft.order.lacksResults) = (found.record, found.lacksResults)
            (draft.passed, draft.total) = (0, audience.byteCount)
        }
        try draft.order.checkExclusions(against: campaign, at: SystemClock.wall())
        var recipients = RecipientSet()
        let preview = try look(
            through: audience, draft.order, after: campaign?.progress, leavingOut: exclusions, marking: &recipients,
            into: invalid
        ) { passed in
            draft.passed = passed
            work.publish(draft)
            return work.isWanted
        }
        guard let preview else { return }
        draft.passed = audience.byteCount
        var found = CampaignPreview(draft.order, preview, of: campaign, at: SystemClock.wall())
        found.exclusionNotes = exclusions?.notes ?? []
        found.continuation = try standing(draft.order, preview, &recipients)
        try found.continuation?.check(draft.order)
        draft.outcome = Outcome(preview: found, audience: audience, invalidLines: invalid.kept)
        work.publish(draft)
    }

    /// Finds the recipients of a preview's audience again.
    ///
    /// Ten million take 130 MB, so a preview that waits for a confirmation does not keep them.
    ///
    /// - Parameter exclusions: who is left out of them.
    /// - Returns: `nil` when it was ended.
    /// - Throws: when they are others by now.
    static func recipients(
        of outcome: Outcome, _ order: CampaignOrder, leavingOut exclusions: FoundExclusions? = nil,
        isStopping: () -> Bool
    ) throws -> RecipientSet? {
        var recipients = RecipientSet()
        let invalid = InvalidLines(keeping: 0)
        let preview = try look(
            through: outcome.audience, order, after: nil, leavingOut: exclusions, marking: &recipients, into: invalid
        ) { _ in !isStopping() }
        guard let preview else { return nil }
        guard preview.mark == outcome.preview.audience.mark else {
            throw ToolFailure("who is left out is not the same any more; preview it again")
        }
        return recipients
    }

    private static func look(
        through audience: Audience, _ order: CampaignOrder, after former: CampaignProgress?,
        leavingOut exclusions: FoundExclusions?, marking recipients: inout RecipientSet, into invalid: InvalidLines,
        onProgress: (Int) -> Bool
    ) throws -> AudiencePreview? {
        let expiresAt = order.expiresIn.map { SystemClock.wall().advanced(by: $0) }
        return try AudiencePreview(
            audience, order.text, expiresAt: expiresAt?.milliseconds, marking: &recipients, into: invalid,
            after: former, leavingOut: exclusions?.forPreview, mostRecipients: mostRecipients, onProgress: onProgress)
    }
}
