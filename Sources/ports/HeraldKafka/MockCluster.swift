internal import CRDKafka

/// librdkafka's embedded brokers: Kafka's protocol on loopback ports, in this process, without storage.
///
/// They discard offsets sent in a transaction, fence no producer, keep 5 MiB per partition, and support no admin
/// requests; they serve demonstrations and injected errors. An unknown topic appears with 4 partitions.
public final class MockCluster: @unchecked Sendable {
    /// The requests whose answers can be made to fail, by their numbers in Kafka's protocol.
    public enum RequestKind: Int16, Sendable {
        /// Writes records.
        case produce = 0
        /// Reads records.
        case fetch = 1
        /// Asks for topics and brokers.
        case metadata = 3
        /// Commits offsets.
        case offsetCommit = 8
        /// Shows that a member is alive.
        case heartbeat = 12
        /// Gives a producer its identity, for transactions too.
        case initProducerID = 22
        /// Adds partitions to a transaction.
        case addPartitionsToTransaction = 24
        /// Ends a transaction.
        case endTransaction = 26
    }

    private let cluster: OpaquePointer
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

    /// Answers the next requests of this kind with these codes; `_TRANSPORT` hangs up, 0 lets the request pass.
    public func pushRequestErrors(_ kind: RequestKind, _ codes: [Int32]) {
        let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0) }
        rd_kafka_mock_push_request_errors_array(cluster, kind.rawValue, errors.count, errors)
    }

    /// Removes support for requests of this kind, as seen by clients that connect from now on.
    public func remove(_ kind: RequestKind) throws(KafkaError) {
        try KafkaError.check(rd_kafka_mock_set_apiversion(cluster, kind.rawValue, -1, -1))
    }

    /// Makes metadata and transactions report this error for the topic from now on; 0 ends that.
    public func setError(ofTopic name: String, _ code: Int32) {
        rd_kafka_mock_topic_set_error(cluster, name, rd_kafka_resp_err_t(rawValue: code))
    }

    /// Makes another broker the partition's leader; -1 leaves it without one.
    public func setLeader(of partition: TopicPartition, broker: Int32) throws(KafkaError) {
        try KafkaError.check(
            rd_kafka_mock_partition_set_leader(cluster, partition.topic, partition.partition, broker))
    }

    /// Delays a broker's (-1: every broker's) answers.
    public func setRoundTripTime(of broker: Int32 = -1, milliseconds: Int) throws(KafkaError) {
        try KafkaError.check(rd_kafka_mock_broker_set_rtt(cluster, broker, Int32(clamping: milliseconds)))
    }
}
