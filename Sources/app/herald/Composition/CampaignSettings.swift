import HeraldCampaigns
import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldTools

extension Settings {
    /// The cluster as commands on campaigns see it.
    func campaignContext(environment: [String: String]) -> CampaignContext {
        var context = CampaignContext(
            topics: topicNames, readerProperties: KafkaClientSettings.outcomeReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            controlProperties: KafkaClientSettings.publisher(self),
            operatorName: Operator.name(environment: environment))
        context.workerTrouble = { workerTrouble() }
        return context
    }

    /// The partitions of the topics, from the cluster.
    func campaignLayout(_ context: CampaignContext, isWriting: Bool) throws -> CampaignContext.Layout {
        try context.layout(reach: clusterReach, admin: adminClient(), isWriting: isWriting)
    }
}
