internal import CRDKafka
public import HeraldTime

/// A request about several topics in the shape common to librdkafka: an array of objects in, an array of results out.
struct TopicRequest {
    typealias Objects = UnsafeMutablePointer<OpaquePointer?>

    let operation: rd_kafka_admin_op_t
    let send: (OpaquePointer, Objects, Int, _ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    let free: (Objects, Int) -> Void
    let results: (_ event: OpaquePointer, _ count: inout Int) -> Objects?

    static var createTopics: Self {
        Self(
            operation: RD_KAFKA_ADMIN_OP_CREATETOPICS, send: { rd_kafka_CreateTopics($0, $1, $2, $3, $4) },
            free: { rd_kafka_NewTopic_destroy_array($0, $1) },
            results: { rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result($0), &$1) })
    }
    static var createPartitions: Self {
        Self(
            operation: RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, send: { rd_kafka_CreatePartitions($0, $1, $2, $3, $4) },
            free: { rd_kafka_NewPartitions_destroy_array($0, $1) },
            results: { rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result($0), &$1) })
    }
    static var deleteTopics: Self {
        Self(
            operation: RD_KAFKA_ADMIN_OP_DELETETOPICS, send: { rd_kafka_DeleteTopics($0, $1, $2, $3, $4) },
            free: { rd_kafka_DeleteTopic_destroy_array($0, $1) },
            results: { rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result($0), &$1) })
    }
    static var describeConfigs: Self {
        Self(
            operation: RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, send: { rd_kafka_DescribeConfigs($0, $1, $2, $3, $4) },
            free: { rd_kafka_ConfigResource_destroy_array($0, $1) },
            results: { rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result($0), &$1) })
    }
    static var alterConfigs: Self {
        Self(
            operation: RD_KAFKA_ADMIN_OP_ALTERCONFIGS, send: { rd_kafka_AlterConfigs($0, $1, $2, $3, $4) },
            free: { rd_kafka_ConfigResource_destroy_array($0, $1) },
            results: { rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result($0), &$1) })
    }
}

extension Admin {
    /// Creates topics, or only validates that they could be created.
    public func createTopics(
        _ topics: [NewTopic], validateOnly: Bool = false, timeout: Milliseconds
    ) throws(KafkaError) -> [TopicResult] {
        try request(
            .createTopics, about: topics, validateOnly: validateOnly, timeout: timeout,
            make: Self.makeNewTopic, read: Self.topicResult)
    }

    /// Raises the partition counts of topics to these totals; Kafka cannot lower them.
    public func createPartitions(
        _ totals: [(topic: String, partitions: Int)], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicResult] {
        try request(
            .createPartitions, about: totals, timeout: timeout,
            make: { (topic, total) throws(KafkaError) in
                try Self.made(topic) { rd_kafka_NewPartitions_new(topic, max(total, 0), $0, $1) }
            }, read: Self.topicResult)
    }

    /// Deletes topics and every record in them.
    ///
    /// For tests; the product never deletes a topic.
    public func deleteTopics(_ topics: [String], timeout: Milliseconds) throws(KafkaError) -> [TopicResult] {
        try request(
            .deleteTopics, about: topics, timeout: timeout,
            make: { rd_kafka_DeleteTopic_new($0) }, read: Self.topicResult)
    }

    /// Sends one request about all items, each converted to a librdkafka object, and reads each result.
    func request<Item, Answer>(
        _ shape: TopicRequest, about items: [Item], validateOnly: Bool = false, timeout: Milliseconds,
        make: (Item) throws(KafkaError) -> OpaquePointer?, read: (OpaquePointer) -> Answer
    ) throws(KafkaError) -> [Answer] {
        guard !items.isEmpty else { return [] }
        var objects: [OpaquePointer?] = []
        defer { shape.free(&objects, objects.count) }
        for item in items { objects.append(try make(item)) }
        return try request(
            shape.operation, timeout: timeout,
            send: { options, queue in
                if validateOnly { rd_kafka_AdminOptions_set_validate_only(options, 1, nil, 0) }
                shape.send(handle.client, &objects, objects.count, options, queue)
            },
            read: { event in
                var count = 0
                let results = shape.results(event, &count)
                return UnsafeMutableBufferPointer(start: results, count: results == nil ? 0 : count)
                    .compactMap { $0.map(read) }
            })
    }

    private static func makeNewTopic(_ topic: NewTopic) throws(KafkaError) -> OpaquePointer? {
        let object = try made(topic.name) { text, size in
            rd_kafka_NewTopic_new(
                topic.name, Int32(clamping: topic.partitions ?? -1), Int32(clamping: topic.replication ?? -1), text,
                size)
        }
        // Only the broker checks names and values.
        for (name, value) in topic.configuration { rd_kafka_NewTopic_set_config(object, name, value) }
        return object
    }

    private static func made(
        _ topic: String, _ make: (_ errorText: UnsafeMutablePointer<CChar>, _ size: Int) -> OpaquePointer?
    ) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
        guard let object = make(&text, text.count) else {
            throw KafkaError(
                code: KafkaError.Code.invalidArgument, message: "topic \(topic): \(ClientHandle.string(text))")
        }
        return object
    }

    private static func topicResult(_ result: OpaquePointer) -> TopicResult {
        let reason = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
        return TopicResult(
            topic: String(cString: rd_kafka_topic_result_name(result)),
            error: KafkaError(rd_kafka_topic_result_error(result), message: reason))
    }
}
