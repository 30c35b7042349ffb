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
            decoder: try recordDecoder(),
            maximumReplays: retry.replays, operatorName: Operator.name(environment: environment))
    }

    /// A replayer that has looked at the topics.
    ///
    /// - Parameter foreign: the topic of others whose dead letters these are; `nil` for Herald's own.
    func replayer(environment: [String: String], foreign: ForeignTopic? = nil, isWriting: Bool) throws -> Replayer {
        var context = try replayContext(environment: environment)
        context.foreign = foreign
        return try Replayer(context, reach: clusterReach, admin: adminClient(), isWriting: isWriting)
    }
}
