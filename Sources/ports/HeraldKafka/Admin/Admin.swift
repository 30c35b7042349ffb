internal import CRDKafka
internal import HeraldThreads
public import HeraldTime

/// A topic to create.
public struct NewTopic: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// The number of partitions; `nil` for the broker's default.
    public var partitions: Int?
    /// The number of replicas; `nil` for the broker's default.
    public var replication: Int?
    /// Its configuration, such as `retention.ms`.
    public var configuration: [String: String]

    /// A topic of this name.
    public init(name: String, partitions: Int?, replication: Int? = nil, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.configuration = configuration
    }
}

/// The result of a request for one topic.
public struct TopicResult: Sendable, Equatable {
    /// The topic's name.
    public var topic: String
    /// The error, or `nil` on success.
    public var error: KafkaError?
}

/// Queries and changes a cluster: for tools, start-up checks and tests.
///
/// Every call blocks, at most for its time-out, and may be made on any thread. It throws when it fails as a whole; the
/// failure of one topic is in that topic's result. A request that the broker does not support shows as `_TIMED_OUT`:
/// the embedded broker supports metadata only.
public final class Admin: Sendable {
    let handle: ClientHandle
    let coordinators = Guarded<[String: Int32]>([:])
    /// The time that a broker gets to accept a connection.
    static let connectingTime: Milliseconds = .seconds(1)

    /// Makes the client, which connects on its first request.
    ///
    /// - Parameter properties: librdkafka's properties; those of producers are ignored.
    public init(properties: ClientProperties) throws(KafkaError) {
        let configuration = ClientConfiguration()
        // A consumer, because asking for a missing topic as a producer may create it.
        try configuration.set(properties: properties, defaults: [("allow.auto.create.topics", "false")])
        handle = try ClientHandle(RD_KAFKA_CONSUMER, configuration)
    }

    /// The cluster's id; `nil` when no broker answers in time.
    public func clusterID(timeout: Milliseconds) -> String? {
        handle.clusterID(timeout: timeout)
    }

    /// Whether the cluster is librdkafka's embedded broker, which supports few requests; false without an answer.
    public func isOfEmbeddedBroker(timeout: Milliseconds) -> Bool {
        handle.isOfEmbeddedBroker(timeout: timeout)
    }

    /// The brokers, and all topics that this user may see.
    public func metadata(timeout: Milliseconds) throws(KafkaError) -> ClusterMetadata {
        try handle.metadata(of: nil, allTopics: true, timeout)
    }

    /// The brokers and these topics, one request per topic; a missing or forbidden topic has an `error`.
    public func metadata(topics: [String], timeout: Milliseconds) throws(KafkaError) -> ClusterMetadata {
        guard !topics.isEmpty else {
            var answer = try handle.metadata(of: nil, allTopics: false, timeout)
            answer.topics = []
            return answer
        }
        var result = ClusterMetadata(brokers: [], topics: [])
        for name in topics {
            let topic = try TopicHandle(name, of: handle)
            let answer = try handle.metadata(of: topic, allTopics: false, timeout)
            result.brokers = answer.brokers
            result.topics += answer.topics.filter { $0.name == name }
        }
        return result
    }

    /// The end of each partition for `read_committed` readers; an embedded broker does not report it.
    public func ends(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try ConsumerQueries(handle).ends(of: partitions, timeout: timeout)
    }

    /// The first offset of each partition; an embedded broker does not report it.
    public func beginnings(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try ConsumerQueries(handle).beginnings(of: partitions, timeout: timeout)
    }

    /// The brokers that moved since the last call, as seen by any client of this process with the same bootstrap
    /// addresses.
    public func takeMovedBrokers() -> [ClusterMetadata.Broker] { handle.callbacks.directory?.takeMoved() ?? [] }

    /// Log lines and errors since the last call, such as refused credentials, and the number that was dropped.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) {
        // Errors stay in the main queue until it is polled.
        rd_kafka_poll(handle.client, 0)
        return handle.callbacks.notices.take()
    }

    func request<Answer>(
        _ operation: rd_kafka_admin_op_t, timeout: Milliseconds,
        send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void,
        read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let options = try makeOptions(operation, timeout: timeout)
        defer { rd_kafka_AdminOptions_destroy(options) }
        let queue = rd_kafka_queue_new(handle.client)
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)
        return try answer(in: queue, timeout: timeout, read: read)
    }

    /// The options of a request; the caller destroys them.
    ///
    /// - Parameter broker: The broker to ask; `nil` lets librdkafka choose.
    func makeOptions(
        _ operation: rd_kafka_admin_op_t, broker: Int32? = nil, timeout: Milliseconds
    ) throws(KafkaError) -> OpaquePointer? {
        let options = rd_kafka_AdminOptions_new(handle.client, operation)
        var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
        let timeout = Int32(clamping: max(timeout, .milliseconds(1)))
        // INVALID_ARG for a time-out over an hour.
        let code = rd_kafka_AdminOptions_set_request_timeout(options, timeout, &text, text.count)
        if let error = KafkaError(code, message: ClientHandle.string(text)) {
            rd_kafka_AdminOptions_destroy(options)
            throw error
        }
        if Self.waitsForPropagation(operation) {
            rd_kafka_AdminOptions_set_operation_timeout(options, timeout, &text, text.count)
        }
        if let broker { rd_kafka_AdminOptions_set_broker(options, broker, &text, text.count) }
        return options
    }

    func answer<Answer>(
        in queue: OpaquePointer?, timeout: Milliseconds,
        read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        // The client itself answers a request that times out; the grace covers a client that does not.
        let patience = max(timeout, .milliseconds(1)) + Self.grace
        guard let event = rd_kafka_queue_poll(queue, Int32(clamping: patience)) else {
            throw KafkaError(code: KafkaError.Code.timedOut)
        }
        defer { rd_kafka_event_destroy(event) }
        let reason = rd_kafka_event_error_string(event).map { String(cString: $0) }
        if let error = KafkaError(rd_kafka_event_error(event), message: reason) { throw error }
        handle.noteAnswer()
        return try read(event)
    }

    private static let grace: Milliseconds = .seconds(5)

    private static func waitsForPropagation(_ operation: rd_kafka_admin_op_t) -> Bool {
        operation == RD_KAFKA_ADMIN_OP_CREATETOPICS || operation == RD_KAFKA_ADMIN_OP_DELETETOPICS
            || operation == RD_KAFKA_ADMIN_OP_CREATEPARTITIONS
    }
}
