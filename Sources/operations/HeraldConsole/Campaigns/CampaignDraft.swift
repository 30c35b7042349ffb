internal import HeraldCampaigns
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// A campaign that is about to be started: its audience is looked through, and then it waits for somebody's word.
struct CampaignDraft: Sendable {
    /// Above so many the count has to be typed.
    static let typedAbove = 100
    static let mostRecipients = 10_000_000
    static let keptInvalidLines = 10_000

    /// What came of it.
    final class Outcome: Sendable {
        let preview: CampaignPreview
        let audience: Audience
        /// CSV with the first invalid lines; empty when there are none.
        let invalidLines: [UInt8]
        /// Those that the preview has marked; may be large, and is given away with the start.
        private let recipients: Guarded<RecipientSet?>

        init(_ preview: CampaignPreview, _ audience: Audience, invalidLines: [UInt8], recipients: RecipientSet) {
            self.preview = preview
            self.audience = audience
            self.invalidLines = invalidLines
            self.recipients = Guarded(recipients)
        }

        func takeRecipients() -> RecipientSet? {
            recipients.withLock { recipients in
                defer { recipients = nil }
                return recipients
            }
        }
    }

    let owner: String
    let upload: String
    let order: CampaignOrder
    let command: [String]
    /// The command for everybody who may look at the job.
    let maskedCommand: [String]
    /// Whether its message was typed by who sees the preview; else it stays masked.
    let isMessageKnown: Bool
    var passed = 0
    var total = 0
    var outcome: Outcome?

    /// What has to be typed to start it; `nil` when nothing has.
    var typed: Int? {
        outcome.map(\.preview.audience.recipients).flatMap { $0 > Self.typedAbove ? $0 : nil }
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", outcome == nil ? "reading" : "done"), .init("passed", .integer(passed)),
            .init("total", .integer(total)), .init("command", .words(command)),
        ]
        if let outcome {
            let preview = outcome.preview
            let hidden: Set<String> = isMessageKnown ? [] : ["samples", "warnings"]
            members += [
                .init("preview", .object(preview.members.filter { !hidden.contains($0.name) })),
                .init("duration", .string(preview.duration)), .init("continues", .bool(preview.isContinued)),
                .init("keptInvalidLines", .integer(min(preview.audience.invalid, Self.keptInvalidLines))),
            ]
            if let typed { members.append(.init("typed", .integer(typed))) }
        }
        return JSONValue.object(members).safe
    }

    /// Goes through the audience.
    static func preview(
        _ asked: CampaignDraft, _ audience: Audience, definition: CampaignDefinition?,
        _ work: AskedTasks<CampaignDraft>.Work
    ) throws {
        var draft = asked
        draft.total = audience.byteCount
        work.publish(draft)
        let invalid = InvalidLines(keeping: keptInvalidLines)
        var recipients = RecipientSet()
        let expiresAt = asked.order.expiresInMilliseconds.map { SystemClock.wall().advanced(byMilliseconds: $0) }
        let preview = try AudiencePreview(
            audience, asked.order.text, expiresAt: expiresAt?.milliseconds, marking: &recipients, into: invalid,
            mostRecipients: mostRecipients,
            onProgress: { passed in
                draft.passed = passed
                work.publish(draft)
                return work.isWanted
            })
        guard let preview else { return }
        draft.passed = audience.byteCount
        draft.outcome = Outcome(
            CampaignPreview(asked.order, preview, definition: definition), audience, invalidLines: invalid.kept,
            recipients: recipients)
        work.publish(draft)
    }
}
