package import HeraldKafka

/// A Kafka broker inside this process, for the demo and the tests.
package final class EmbeddedBroker: Sendable {
    package static let notice =
        "The embedded broker keeps nothing: its records and offsets are gone when this process ends, it drops the oldest "
        + "records beyond 5 MiB per partition, and it has no real transactions."

    package struct Topic: Sendable, Equatable {
        package var name: String
        package var partitions: Int

        package init(_ name: String, partitions: Int) {
            self.name = name
            self.partitions = partitions
        }
    }

    package let cluster: MockCluster

    /// Starts one broker with these topics; it stops when this object is released.
    package init(topics: [Topic]) throws(KafkaError) {
        cluster = try MockCluster()
        for topic in topics { try cluster.createTopic(topic.name, partitions: topic.partitions) }
    }

    package var bootstrapServers: String { cluster.bootstrapServers }
}
