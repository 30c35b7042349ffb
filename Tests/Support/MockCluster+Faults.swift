import CRDKafka
package import HeraldKafka

/// Faults of librdkafka's embedded brokers.
extension MockCluster {
    /// The requests whose answers can be made to fail, by their numbers in Kafka's protocol.
    package enum RequestKind: Int16, Sendable {
        /// Writes records.
        case produce = 0
        /// Reads records.
        case fetch = 1
        /// Asks for topics and brokers.
        case metadata = 3
        /// Commits offsets.
        case offsetCommit = 8
        /// Says that a member lives.
        case heartbeat = 12
        /// Gives a producer its identity, for transactions too.
        case initProducerID = 22
        /// Adds partitions to a transaction.
        case addPartitionsToTransaction = 24
        /// Ends a transaction.
        case endTransaction = 26
    }

    /// The next requests of this kind are answered with these codes, one each; `_TRANSPORT` hangs up, 0 lets it pass.
    package func pushRequestErrors(_ kind: RequestKind, _ codes: [Int32]) {
        let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0) }
        rd_kafka_mock_push_request_errors_array(cluster, kind.rawValue, errors.count, errors)
    }

    /// The brokers do not know requests of this kind, and say so to clients that connect from now on.
    package func remove(_ kind: RequestKind) throws(KafkaError) {
        try Self.check(rd_kafka_mock_set_apiversion(cluster, kind.rawValue, -1, -1))
    }

    /// Metadata and transactions say this error of the topic from now on, 0 for none any more.
    package func setError(ofTopic name: String, _ code: Int32) {
        rd_kafka_mock_topic_set_error(cluster, name, rd_kafka_resp_err_t(rawValue: code))
    }

    /// Makes another broker the partition's leader; -1 leaves it without one.
    package func setLeader(of partition: TopicPartition, broker: Int32) throws(KafkaError) {
        try Self.check(
            rd_kafka_mock_partition_set_leader(cluster, partition.topic, partition.partition, broker))
    }

    /// Delays a broker's (-1: every broker's) answers.
    package func setRoundTripTime(of broker: Int32 = -1, milliseconds: Int) throws(KafkaError) {
        try Self.check(rd_kafka_mock_broker_set_rtt(cluster, broker, Int32(clamping: milliseconds)))
    }

    private static func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code: code.rawValue) }
    }
}
