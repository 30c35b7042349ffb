internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// What a draft's recipients would get, sent to a few users first, with its outcomes so far.
struct CampaignTrial: Sendable {
    private struct Outcome: Sendable {
        let user: String
        let pushService: String
        let outcome: String
        let status: Int?
        let detail: String?

        init(_ entry: PublicationTracker.Entry) {
            let result = entry.result
            (user, pushService) = (entry.publication.event.user, entry.pushService)
            outcome = result.map { OutcomeCount.name($0.outcome) } ?? "no outcome yet"
            status = result?.status
            detail = result.map { $0.detail ?? $0.reasonName } ?? Self.open(entry)
        }

        /// Why there is none yet, as far as that is known.
        private static func open(_ entry: PublicationTracker.Entry) -> String {
            entry.quietUntil.map { "its user's quiet hours last until \($0.text)" }
                ?? "it waits, or is tried again: the page Find says why, by its user"
        }
    }

    private var outcomes: [Outcome] = []
    private var filledBy: String?
    private var isOver = false

    var json: JSONValue {
        JSONValue.present([
            .init("state", isOver ? "done" : "reading"), .init("filledBy", .text(filledBy)),
            .init(
                "outcomes",
                .array(
                    outcomes.map {
                        .present([
                            .init("user", .string($0.user)), .init("pns", .string($0.pushService)),
                            .init("outcome", .string($0.outcome)),
                            .init("status", $0.status.map { .integer($0) } ?? .null),
                            .init("detail", .text($0.detail)),
                        ])
                    })),
        ]).safe
    }

    /// Sends it, and publishes its outcomes as they come.
    static func run(
        _ draft: CampaignDraft, _ audience: Audience, to users: [String], pushServices: PushServices,
        in context: CampaignContext, _ layout: CampaignContext.Layout, _ work: AskedTasks<CampaignTrial>.Work
    ) throws {
        let test = try CampaignTest(to: users, draft.order.text, audience: audience)
        var trial = CampaignTrial()
        trial.filledBy = test.filledBy
        let missing = try context.send(
            test, to: draft.order.topic, layout, draft.order.text, pushServices: pushServices,
            for: CampaignTest.patience, at: SystemClock.wall(), isStopping: { !work.isWanted }, onPublished: { _ in },
            onOutcome: { entry in
                trial.outcomes.append(Outcome(entry))
                work.publish(trial)
            })
        trial.outcomes += missing.map(Outcome.init)
        trial.isOver = true
        work.publish(trial)
    }
}
