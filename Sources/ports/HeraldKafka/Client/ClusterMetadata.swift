internal import CRDKafka
import HeraldTime

/// What a broker says of its cluster at one moment.
public struct ClusterMetadata: Sendable, Equatable {
    /// One broker; in words its number and where it is.
    public struct Broker: Sendable, Hashable, CustomStringConvertible {
        /// Its number; -1 for one that only the settings name.
        public var id: Int32
        /// The name or address that it wants to be reached by.
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
        /// The broker that leads it, `nil` when there is none at the moment.
        public var leader: Int32?
        /// The brokers that hold a copy, whether they are up or not.
        public var replicas: [Int32]
        /// How many of them are in sync.
        public var inSyncReplicaCount: Int
        /// How many brokers hold a copy.
        public var replicaCount: Int { replicas.count }
    }

    /// One topic.
    public struct Topic: Sendable, Equatable {
        /// Its name.
        public var name: String
        /// Its partitions by number; empty when there is an error.
        public var partitions: [Partition]
        /// Why nothing is known of it, such as `UNKNOWN_TOPIC_OR_PART` or `TOPIC_AUTHORIZATION_FAILED`.
        public var error: KafkaError?

        /// The partitions that cannot be written or read at the moment.
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
    /// The cluster's own identity; `nil` when no broker answers in time, and from brokers that have none.
    func clusterID(timeout: Milliseconds) -> String? {
        guard let raw = rd_kafka_clusterid(client, Int32(clamping: timeout)) else { return nil }
        defer { rd_kafka_mem_free(client, raw) }
        return String(cString: raw)
    }

    /// Whether the cluster is librdkafka's embedded broker; not, when no broker answers in time.
    func isOfEmbeddedBroker(timeout: Milliseconds) -> Bool {
        clusterID(timeout: timeout)?.hasPrefix("mockCluster") ?? false
    }

    /// Blocks and asks for the brokers and one topic, all topics, or none.
    ///
    /// When the broker dies that was asked, librdkafka 2.0 repeats the question to that same broker once it is back
    /// (`rd_kafka_handle_Metadata`). So the question is asked again after 5 s, 10 and 20: another broker may answer it,
    /// and one that is only slow gets the time.
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
                // What comes sooner is an answer.
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
