internal import Glibc
internal import HeraldDriver
package import HeraldTime
package import HeraldTools

extension CampaignContext {
    /// Publishes a campaign to its end, or until something ends it, and waits for the outcomes; starting it again,
    /// anywhere, goes on with the rest.
    ///
    /// ``CampaignMachine`` decides, ``CampaignClients`` carries out. Blocks.
    ///
    /// - Parameters:
    ///   - counts: of the audience.
    ///   - recipients: those that the preview has marked; give the only copy away, because it may be large.
    ///   - lookAtTopics: what ``layout(reach:admin:isWriting:)`` says by now: topics may grow.
    ///   - stoppedBy: who wants it to stop; `nil` while nobody does.
    ///   - handsOver: whether that is because the process ends: of a detached campaign others publish the rest.
    ///   - onNews: called with what people want to know, once.
    ///   - onTurn: called often with how it stands.
    package func publish(
        _ order: CampaignOrder, _ layout: Layout, audience: Audience,
        counts: AudiencePublication.AudienceCounts, recipients: consuming RecipientSet,
        lookAtTopics: @escaping () throws -> Layout,
        stoppedBy: @escaping @Sendable () -> String?, handsOver: @escaping @Sendable () -> Bool = { false },
        onNews: @escaping (PublishNews) -> Void,
        onTurn: @escaping (CampaignMachine, Moment) -> Void
    ) -> (end: PublicationEnd, progress: PublishProgress) {
        let machine = CampaignMachine(
            AudiencePublication(
                order, self,
                audience: counts,
                process: getpid(), recipients: recipients), writer: BatchWriter.Configuration(writerProperties))
        let clients: CampaignClients
        do {
            clients = try CampaignClients(
                self, layout, order, audience: audience,
                owner: CampaignClients.Owner(
                    stoppedBy: stoppedBy, handsOver: handsOver, onNews: onNews, onTurn: onTurn),
                lookAtTopics: lookAtTopics)
        } catch {
            return (.failed(ToolFailure("\(error)")), machine.progress)
        }
        defer { clients.close() }
        let driver = JobDriver(consume machine, io: clients)
        driver.run()
        return (driver.machine.end ?? .interrupted, driver.machine.progress)
    }
}

extension AudiencePreview {
    /// What a publisher has to know of the audience.
    package var counts: AudiencePublication.AudienceCounts {
        AudiencePublication.AudienceCounts(
            recipients: recipients, repeats: repeats, invalid: invalid, emptyLines: emptyLines, mark: mark,
            excluded: excludedFor, excludedMark: excludedMark, beginsWith: beginsWith, comparedTo: comparedTo,
            reading: reading)
    }
}
