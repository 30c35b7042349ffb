internal import Glibc
internal import HeraldDriver
package import HeraldTools

/// Publishes a campaign to its end, or until something ends it; starting it again, anywhere, goes on with the rest.
///
/// ``CampaignMachine`` decides, ``CampaignClients`` carries out. One thread.
package final class CampaignPublisher {
    private let configuration: AudiencePublication.Configuration
    private let layout: CampaignContext.Layout
    private let audience: Audience
    private let owner: CampaignClients.Owner
    private let lookAtTopics: () throws -> CampaignContext.Layout
    private var recipients: RecipientSet

    /// A publisher for an audience that was looked through.
    ///
    /// - Parameters:
    ///   - recipients: those that the preview has marked; give the only copy away, because it may be large.
    ///   - lookAtTopics: what ``CampaignContext/layout(reach:admin:isWriting:)`` says by now: topics may grow.
    ///   - onNews: called with what people want to know, once.
    ///   - onTurn: called often with how it stands.
    package init(
        _ context: CampaignContext, _ layout: CampaignContext.Layout, _ order: CampaignOrder, audience: Audience,
        preview: AudiencePreview, recipients: consuming RecipientSet,
        lookAtTopics: @escaping () throws -> CampaignContext.Layout, isStopping: @escaping @Sendable () -> Bool,
        onNews: @escaping (PublishNews) -> Void, onTurn: @escaping (CampaignStanding) -> Void
    ) {
        self.lookAtTopics = lookAtTopics
        self.layout = layout
        self.audience = audience
        self.recipients = recipients
        owner = CampaignClients.Owner(isStopping: isStopping, onNews: onNews, onTurn: onTurn)
        configuration = AudiencePublication.Configuration(
            context: context, order: order,
            audience: AudiencePublication.AudienceCounts(
                recipients: preview.recipients, repeats: preview.repeats, invalid: preview.invalid, mark: preview.mark,
                beginsWith: preview.beginsWith, comparedTo: preview.comparedTo),
            process: getpid(), writer: BatchWriter.Configuration(context.writerProperties))
    }

    /// Publishes, and waits for the outcomes; once.
    package func run() -> (end: PublicationEnd, progress: PublishProgress) {
        let clients: CampaignClients
        do {
            clients = try CampaignClients(
                configuration.context, layout, configuration.order, audience: audience, owner: owner,
                lookAtTopics: lookAtTopics)
        } catch {
            return (.failed(ToolFailure("\(error)")), CampaignMachine(configuration, recipients: recipients).progress)
        }
        defer { clients.close() }
        // One copy of those recipients is enough.
        let given = recipients
        recipients = RecipientSet()
        let driver = JobDriver(CampaignMachine(configuration, recipients: consume given), io: clients)
        driver.run()
        return (driver.machine.end ?? .interrupted, driver.machine.progress)
    }
}
