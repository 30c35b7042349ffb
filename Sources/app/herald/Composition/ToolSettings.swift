import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

extension Settings {
    var topicWishes: TopicWishes {
        TopicWishes(
            names: topicNames, retryDelays: retry.delays,
            partitions: topics.partitions, replication: topics.replicationFactor == 0 ? nil : topics.replicationFactor,
            retention: Milliseconds(topics.retention), maxElapsed: Milliseconds(retry.maxElapsed),
            eventBytes: limits.eventBytes, wantsFeedback: target.wantsFeedback)
    }

    /// The follower's group: its offsets must not be mixed up with those of the workers.
    var feedbackGroup: String { kafka.group + "-feedback" }

    var clusterReach: ClusterReach {
        ClusterReach(bootstrapServers: kafka.bootstrapServers)
    }

    /// A client that asks the cluster.
    func adminClient() throws -> HeraldKafka.Admin {
        do {
            return try HeraldKafka.Admin(properties: KafkaClientSettings.common(self))
        } catch {
            throw ToolFailure(error)
        }
    }
}

extension CommandFailure {
    /// A tool's failure with the exit status of its kind; what a broker said in it is made safe to show.
    init(_ failure: ToolFailure) {
        let detail = failure.detail.map { ["  the Kafka client says: \(SafeText.escaped($0))"] } ?? []
        let lines = failure.description.split(separator: "\n").map { SafeText.escaped(String($0)) } + detail
        self.init(lines.joined(separator: "\n"), status: failure.kind == .unreachable ? .unreachable : .failed)
    }
}
