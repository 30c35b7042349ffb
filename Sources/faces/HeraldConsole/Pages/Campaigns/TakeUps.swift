internal import HeraldCampaigns
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// Takes up detached campaigns that are due and have no publisher, as jobs of this console; so does a console that was
/// restarted.
final class TakeUps: Sendable {
    private static let interval = Duration.seconds(2)

    private let service: CampaignService
    private let jobs: Jobs
    private let publication: StoredPublication
    private let campaigns = Guarded<DetachedCampaigns?>(nil)

    init(_ service: CampaignService, _ rules: CampaignStartRules, jobs: Jobs) {
        (self.service, self.jobs) = (service, jobs)
        publication = StoredPublication(
            service.context, users: rules.users, maximumEventBytes: rules.maximumEventBytes, directory: rules.directory)
    }

    /// Looks for them until it is stopped.
    func begin() throws(SystemError) -> RepeatedWork {
        try RepeatedWork(name: "take-ups", every: Self.interval) { [self] in look() }
    }

    private func look() {
        campaigns.withLock { campaigns in
            do {
                let known = try campaigns ?? DetachedCampaigns(service.context) { [service] in try service.layout() }
                campaigns = known
                for campaign in try known.due() { try take(campaign) }
                try known.sweep()
            } catch {
                // Brokers that do not answer, and topics that are missing, are said on the page Verdict.
                campaigns?.close()
                campaigns = nil
            }
        }
    }

    private func take(_ campaign: CampaignIndex.Campaign) throws {
        guard let definition = campaign.definition, let stored = definition.audience else { return }
        let subject = PublishingJob.subject(campaign.name)
        guard !jobs.isBusy(with: subject) else { return }
        let description = JobDescription(
            kind: "campaign.publish", name: "campaign \(campaign.name)", owner: service.context.operatorName,
            subject: subject,
            about: JSONValue.object([
                .init("campaign", .string(campaign.name)), .init("topic", .string(definition.topic)),
                .init("recipients", .integer(stored.recipients)), .init("detached", true),
                .init("command", .words(["herald", "campaign", "run"])),
            ]).safe)
        try jobs.begin(description) { [publication, service] control in
            let teller = PublishingJob.Teller(control)
            let published = try publication.publish(
                campaign, lookAtTopics: { try service.layout(isWriting: true) }, stoppedBy: { control.stopper },
                handsOver: { control.isEndingWithConsole }, onNews: { teller.note($0) },
                onTurn: { teller.show($0, now: $1) })
            guard let (end, progress) = published else {
                return JobEnd(
                    .stopped, "Another publisher is at work on it, or it was stopped before anything was published.")
            }
            return JobEnd(
                end, progress.sentence(end, name: campaign.name, again: PublishingJob.again),
                report: PublishingJob.Teller.object(progress))
        }
    }
}
