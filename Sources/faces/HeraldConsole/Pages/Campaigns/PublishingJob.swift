internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The publisher of one campaign as a job of the console: it outlives the tab, and after the end of the process a new
/// start with the same audience continues the campaign.
struct PublishingJob: Sendable {
    private static let reportPause = Duration.milliseconds(250)
    static let again = "start it again with the same audience, and it goes on with the rest"

    private static let nothing = "Stopped before anything was published."

    let context: CampaignContext
    let layout: CampaignContext.Layout
    /// What the campaigns topic says.
    let index: CampaignIndex
    let lookAtTopics: @Sendable () throws -> CampaignContext.Layout
    let draft: CampaignDraft
    let outcome: CampaignDraft.Outcome

    var description: JobDescription {
        let name = draft.order.text.name
        return JobDescription(
            kind: "campaign.publish", name: "campaign \(name)", owner: context.operatorName,
            subject: Self.subject(name), takesOver: true,
            about: Self.about(draft, recipients: outcome.preview.audience.recipients))
    }

    /// What jobs that publish this campaign work on.
    static func subject(_ name: String) -> String { "campaign/\(name)" }

    /// Its description, for viewers too: without the message.
    static func about(_ draft: CampaignDraft, recipients: Int) -> JSONValue {
        JSONValue.object([
            .init("campaign", .string(draft.order.text.name)), .init("topic", .string(draft.order.topic)),
            .init("recipients", .integer(recipients)),
            .init("command", .words(draft.command(isMessageMasked: true))),
        ]).safe
    }

    func run(_ control: JobControl) throws -> JobEnd {
        var exclusions: FoundExclusions?
        if draft.wish != nil {
            exclusions = try context.exclusions(of: draft, index, layout) { _, _ in !control.isStopping }
            guard exclusions != nil else { return JobEnd(.stopped, Self.nothing) }
        }
        let found = try CampaignDraft.recipients(of: outcome, draft.order, leavingOut: exclusions) {
            control.isStopping
        }
        guard var recipients = found else { return JobEnd(.stopped, Self.nothing) }
        var order = draft.order
        if order.detaches {
            order.stored = try context.store(
                outcome.audience, order.text, layout, preview: outcome.preview.audience, marking: &recipients
            ) { _ in !control.isStopping }
            guard order.stored != nil else { return JobEnd(.stopped, Self.nothing) }
        }
        let teller = Teller(control)
        let (end, progress) = context.publish(
            order, layout, audience: outcome.audience, counts: outcome.preview.audience.counts,
            recipients: recipients, lookAtTopics: lookAtTopics, stoppedBy: { control.stopper },
            handsOver: { control.isEndingWithConsole }, onNews: { teller.note($0) },
            onTurn: { teller.show($0, now: $1) })
        return JobEnd(
            end, progress.sentence(end, name: draft.order.text.name, again: Self.again),
            report: Teller.object(progress))
    }

    /// Reports the publisher's progress to a job's page; one thread.
    final class Teller {
        private let control: JobControl
        private var news: String?
        private var last: ContinuousClock.Instant?

        init(_ control: JobControl) { self.control = control }

        func note(_ news: PublishNews) {
            self.news =
                switch news {
                case .continues(let count): "It goes on: \(CampaignWords.counted(count, "event")) published before."
                case .paused(let control): "It is \(control.map { CampaignWords.state(.paused, $0) } ?? "paused")."
                case .resumed: "It was resumed."
                case .unreachable(let cause):
                    "Publishing is interrupted (\(cause)); it is tried again, nothing is lost."
                case .step(let number): "Step \(number) of the ramp."
                case .goesOnWithout(let open, let step): CampaignWords.goesOnWithout(open, step: step)
                case .held(let count, let name): CampaignWords.held(count, name: name)
                case .allPublished: "All recipients are published; it waits for the last outcomes."
                }
            last = nil
        }

        func show(_ publisher: CampaignMachine, now: Moment) {
            if let last, ContinuousClock.now - last < PublishingJob.reportPause { return }
            last = .now
            control.report(
                Self.object(publisher.progress, publisher.wait(now: now), news: news))
        }

        static func object(
            _ progress: PublishProgress, _ wait: WaitingPage.Wait? = nil, news: String? = nil
        ) -> JSONValue {
            let members: [JSONValue.Member] = [
                .init("recipients", .integer(progress.recipients)),
                .init("published", .integer(progress.published)),
                .init("publishedNow", .integer(progress.publishedNow)),
                .init("total", .integer(progress.total)), .init("delivered", .integer(progress.outcomes.delivered)),
                .init("failed", .integer(progress.outcomes.failed)), .init("open", .integer(progress.open)),
                .init("waits", wait?.json.safe ?? .null),
                .init("news", .text(news.map { SafeText.escaped($0) })),
            ]
            return .present(members)
        }
    }
}
