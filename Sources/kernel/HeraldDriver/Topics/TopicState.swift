package import HeraldKafka

/// What a cluster says of one topic.
package struct TopicState: Sendable, Equatable {
    package var partitions: Int
    /// How many copies the partition with the fewest has.
    package var replication: Int
    package var configuration: [String: String]
    /// Whether every partition has a leader at the moment.
    package var isServed = true

    func text(_ property: TopicProperty) -> String? { configuration[property.rawValue] }

    /// A number of the configuration; `nil` when it is absent or none.
    func number(_ property: TopicProperty) -> Int64? { text(property).flatMap { Int64($0) } }
}

/// What is looked at in a topic, by the name that tools of Kafka have for it.
package enum TopicProperty: String, Sendable {
    case topic
    case partitions
    case replication = "replication.factor"
    case cleanupPolicy = "cleanup.policy"
    /// How long records are kept, -1 for ever.
    case retention = "retention.ms"
    /// How many bytes of a partition are kept, -1 for all.
    case retentionBytes = "retention.bytes"
    /// How large a record (a batch, to be exact) may be.
    case maxMessageBytes = "max.message.bytes"
    /// How the brokers keep batches: `producer` leaves them as they come.
    case compressionType = "compression.type"
    /// How many copies must have a record before it counts as written.
    case minInSyncReplicas = "min.insync.replicas"
}

extension TopicState {
    package init(_ topic: ClusterMetadata.Topic, _ configuration: [String: String]) {
        self.init(
            partitions: topic.partitions.count, replication: topic.partitions.map(\.replicaCount).min() ?? 0,
            configuration: configuration,
            isServed: topic.error == nil && !topic.partitions.isEmpty && topic.leaderlessPartitions.isEmpty)
    }
}

extension TopicConfiguration {
    /// The entries with a value.
    package var values: [String: String] {
        Dictionary(entries.compactMap { entry in entry.value.map { (entry.name, $0) } }) { first, _ in first }
    }
}
