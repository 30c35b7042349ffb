internal import CRDKafka

/// librdkafka's embedded brokers: Kafka's protocol on loopback ports, in this process, without storage.
///
/// They discard offsets sent in a transaction, fence no producer, keep 5 MiB per partition, and support no admin
/// requests; they serve demonstrations and injected errors. An unknown topic appears with 4 partitions.
public final class MockCluster: @unchecked Sendable {
    /// librdkafka's; tests let it fail.
    package let cluster: OpaquePointer
    private let handle: ClientHandle
    /// The brokers' addresses, for the property `bootstrap.servers`.
    public let bootstrapServers: String

    /// Starts this many brokers, numbered from 1; they stop when this object is released.
    public init(brokers: Int = 1) throws(KafkaError) {
        let configuration = ClientConfiguration()
        handle = try ClientHandle(RD_KAFKA_PRODUCER, configuration)
        guard let cluster = rd_kafka_mock_cluster_new(handle.client, Int32(clamping: brokers)) else {
            throw KafkaError(
                code: KafkaError.Code.invalidArgument, message: "the embedded broker cannot listen on loopback")
        }
        self.cluster = cluster
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
    }

    deinit { rd_kafka_mock_cluster_destroy(cluster) }

    /// Makes a topic.
    public func createTopic(_ name: String, partitions: Int, replication: Int = 1) throws(KafkaError) {
        try KafkaError.check(
            rd_kafka_mock_topic_create(cluster, name, Int32(clamping: partitions), Int32(clamping: replication)))
    }
}
