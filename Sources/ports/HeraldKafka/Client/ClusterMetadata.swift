internal import CRDKafka
import HeraldTime

/// A cluster as a broker describes it at one moment.
public struct ClusterMetadata: Sendable, Equatable {
    /// One broker; described by its number and address.
    public struct Broker: Sendable, Hashable, CustomStringConvertible {
        /// Its number; -1 for a broker known from the settings only.
        public var id: Int32
        /// The name or address that it advertises.
        public var host: String
        /// Its port.
        public var port: Int
        /// `host:port`.
        public var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
        /// `2 (host:port)`.
        public var description: String { host.isEmpty ? "\(id)" : id < 0 ? address : "\(id) (\(address))" }

        /// A broker.
        public init(id: Int32, host: String, port: Int) {
            self.id = id
            self.host = host
            self.port = port
        }
    }

    /// One partition of a topic.
    public struct Partition: Sendable, Equatable {
        /// Its number.
        public var id: Int32
        /// The broker that leads it; `nil` while there is none.
        public var leader: Int32?
        /// The brokers that hold a copy, whether they are up or not.
        public var replicas: [Int32]
        /// The number of replicas in sync.
        public var inSyncReplicaCount: Int
        /// The number of replicas.
        public var replicaCount: Int { replicas.count }
    }

    /// One topic.
    public struct Topic: Sendable, Equatable {
        /// Its name.
        public var name: String
        /// Its partitions by number; empty when there is an error.
        public var partitions: [Partition]
        /// The reason that it is unknown, such as `UNKNOWN_TOPIC_OR_PART` or `TOPIC_AUTHORIZATION_FAILED`.
        public var error: KafkaError?

        /// The partitions without a leader, which cannot be written or read.
        public var leaderlessPartitions: [Int32] { partitions.filter { $0.leader == nil }.map(\.id) }
    }

    /// The brokers that are up.
    public var brokers: [Broker]
    /// The topics that were asked for, in that order, or all of them.
    public var topics: [Topic]
}

extension ClusterMetadata {
    init(_ raw: rd_kafka_metadata) {
        brokers = UnsafeBufferPointer(start: raw.brokers, count: Int(raw.broker_cnt)).map {
            Broker(id: $0.id, host: String(cString: $0.host), port: Int($0.port))
        }
        topics = UnsafeBufferPointer(start: raw.topics, count: Int(raw.topic_cnt)).map(Topic.init)
    }
}

extension ClusterMetadata.Topic {
    init(_ raw: rd_kafka_metadata_topic) {
        name = String(cString: raw.topic)
        error = KafkaError(raw.err)
        partitions = UnsafeBufferPointer(start: raw.partitions, count: Int(raw.partition_cnt)).map {
            ClusterMetadata.Partition(
                id: $0.id, leader: $0.leader < 0 ? nil : $0.leader,
                replicas: Array(UnsafeBufferPointer(start: $0.replicas, count: Int($0.replica_cnt))),
                inSyncReplicaCount: Int($0.isr_cnt))
        }
        partitions.sort { $0.id < $1.id }
    }
}

extension ClientHandle {
    /// The cluster's id; `nil` when no broker answers in time, or when the brokers have none.
    func clusterID(timeout: Milliseconds) -> String? {
        guard let raw = rd_kafka_clusterid(client, Int32(clamping: timeout)) else { return nil }
        defer { rd_kafka_mem_free(client, raw) }
        return String(cString: raw)
    }

    /// Whether the cluster is librdkafka's embedded broker; false when no broker answers in time.
    func isOfEmbeddedBroker(timeout: Milliseconds) -> Bool {
        clusterID(timeout: timeout)?.hasPrefix("mockCluster") ?? false
    }

    /// Asks for the brokers and one topic, all topics, or none; blocks.
    ///
    /// When the asked broker dies, librdkafka 2.0 repeats the request to that same broker once it is back
    /// (`rd_kafka_handle_Metadata`). So the request is sent again after 5, 10 and 20 s: another broker may answer it,
    /// and a slow broker still gets enough time.
    func metadata(
        of topic: TopicHandle?, allTopics: Bool, _ timeout: Milliseconds
    ) throws(KafkaError) -> ClusterMetadata {
        let end = ContinuousClock.now + timeout.duration
        var patience = Duration.seconds(5)
        while true {
            let begin = ContinuousClock.now
            let attempt = min(patience, end - begin)
            do throws(KafkaError) {
                let answer = try ask(for: topic, allTopics: allTopics, within: attempt)
                callbacks.directory?.note(answer.brokers)
                return answer
            } catch {
                guard error.kind == .unreachable else { throw error }
                callbacks.directory?.noteSilence(callbacks.properties)
                // An earlier failure is an answer, not a silence.
                let now = ContinuousClock.now
                guard now - begin >= attempt, now < end else { throw error }
            }
            patience *= 2
        }
    }

    private func ask(
        for topic: TopicHandle?, allTopics: Bool, within patience: Duration
    ) throws(KafkaError) -> ClusterMetadata {
        var raw: UnsafePointer<rd_kafka_metadata>?
        let milliseconds = Int32(clamping: max(0, Int((patience / .milliseconds(1)).rounded(.up))))
        try KafkaError.check(rd_kafka_metadata(client, allTopics ? 1 : 0, topic?.pointer, &raw, milliseconds))
        guard let raw else { return ClusterMetadata(brokers: [], topics: []) }
        defer { rd_kafka_metadata_destroy(raw) }
        return ClusterMetadata(raw.pointee)
    }
}
