import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldSettings
import HeraldTools

extension Settings {
    /// The cluster as commands on dead letters see it.
    func replayContext(environment: [String: String]) throws -> ReplayContext {
        ReplayContext(
            topics: topicNames, readerProperties: KafkaClientSettings.deadLetterReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            auditProperties: KafkaClientSettings.publisher(self),
            decoder: RecordDecoder(pushServices: try pushServices(), maxEventBytes: limits.eventBytes),
            maximumReplays: retry.replays, operatorName: Operator.name(environment: environment))
    }

    /// One who has looked at the topics.
    func replayer(environment: [String: String], isWriting: Bool) throws -> Replayer {
        let context = try replayContext(environment: environment)
        return try Replayer(context, reach: clusterReach, admin: adminClient(), isWriting: isWriting)
    }
}
