internal import CRDKafka
internal import HeraldThreads
public import HeraldTime

/// A topic to be made.
public struct NewTopic: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// How many partitions it gets; `nil` for the broker's default.
    public var partitions: Int?
    /// How many copies of each; `nil` for the broker's default.
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

/// How a request ended for one topic.
public struct TopicResult: Sendable, Equatable {
    /// The topic's name.
    public var topic: String
    /// Why it failed, or `nil`.
    public var error: KafkaError?
}

/// Asks for and changes what a cluster holds: for tools, start-up checks and tests.
///
/// Every call blocks, at most for its time-out, and can be made on any thread. A call throws when it failed as a whole;
/// what failed for one topic is in that topic's result. A broker that does not know a request, as the embedded one with
/// all but metadata, shows as `_TIMED_OUT`.
public final class Admin: Sendable {
    let handle: ClientHandle
    /// The broker that coordinates each group that was asked about.
    let coordinators = Guarded<[String: Int32]>([:])
    /// A broker may take so long to take a connection.
    static let connectingTime: Milliseconds = .seconds(1)

    /// Makes the client; it connects when something is asked.
    ///
    /// - Parameter properties: librdkafka's properties; those of producers are ignored.
    public init(properties: ClientProperties) throws(KafkaError) {
        let configuration = ClientConfiguration()
        // A consumer, because asking for a missing topic as a producer may create it.
        try configuration.set(properties: properties, defaults: [("allow.auto.create.topics", "false")])
        handle = try ClientHandle(RD_KAFKA_CONSUMER, configuration)
    }

    /// The cluster's own identity; `nil` when no broker answers in time.
    public func clusterID(timeout: Milliseconds) -> String? {
        handle.clusterID(timeout: timeout)
    }

    /// Whether the cluster is librdkafka's embedded broker, which knows few requests; not, when no broker answers in time.
    public func isOfEmbeddedBroker(timeout: Milliseconds) -> Bool {
        handle.isOfEmbeddedBroker(timeout: timeout)
    }

    /// Brokers and all topics that this user may see.
    public func metadata(timeout: Milliseconds) throws(KafkaError) -> ClusterMetadata {
        try handle.metadata(of: nil, allTopics: true, timeout)
    }

    /// Brokers and these topics, one request each; a topic that is missing or forbidden says so in its `error`.
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

    /// Where each partition ends for readers of what is committed; an embedded broker does not say.
    public func ends(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try ConsumerQueries(handle).ends(of: partitions, timeout: timeout)
    }

    /// The brokers that were found elsewhere since the last call, by any client of this process that begins at the same
    /// addresses.
    public func takeMovedBrokers() -> [ClusterMetadata.Broker] { handle.callbacks.directory?.takeMoved() ?? [] }

    /// Log lines and errors since the last call, such as refused credentials, and how many more were dropped.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) {
        // Errors wait in the main queue until it is polled.
        rd_kafka_poll(handle.client, 0)
        return handle.callbacks.notices.take()
    }

    /// Sends one admin request and reads its answer.
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

    /// How to send a request: the caller destroys the options.
    ///
    /// - Parameter broker: Which broker is asked; `nil` for the one that librdkafka chooses.
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

    /// Waits for the next answer to come and reads it.
    func answer<Answer>(
        in queue: OpaquePointer?, timeout: Milliseconds,
        read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        // The client answers a request that times out itself; the rest is for a client that does not.
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
