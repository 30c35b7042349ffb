internal import CRDKafka

extension Admin {
    /// Makes topics, or only checks whether they could be made.
    public func createTopics(
        _ topics: [NewTopic], validateOnly: Bool = false, timeoutMilliseconds: Int
    ) throws(KafkaError) -> [TopicResult] {
        guard !topics.isEmpty else { return [] }
        var raw: [OpaquePointer?] = []
        defer { rd_kafka_NewTopic_destroy_array(&raw, raw.count) }
        for topic in topics {
            raw.append(try Self.makeNewTopic(topic))
        }
        return try request(
            RD_KAFKA_ADMIN_OP_CREATETOPICS, timeoutMilliseconds: timeoutMilliseconds,
            send: { options, queue in
                if validateOnly { rd_kafka_AdminOptions_set_validate_only(options, 1, nil, 0) }
                rd_kafka_CreateTopics(handle.client, &raw, raw.count, options, queue)
            },
            read: { event in
                var count = 0
                let answer = rd_kafka_event_CreateTopics_result(event)
                return Self.results(rd_kafka_CreateTopics_result_topics(answer, &count), count)
            })
    }

    /// Raises topics' numbers of partitions to these totals; they can never be lowered.
    public func createPartitions(
        _ totals: [(topic: String, partitions: Int)], timeoutMilliseconds: Int
    ) throws(KafkaError) -> [TopicResult] {
        guard !totals.isEmpty else { return [] }
        var raw: [OpaquePointer?] = []
        defer { rd_kafka_NewPartitions_destroy_array(&raw, raw.count) }
        for (topic, total) in totals {
            var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
            guard let partitions = rd_kafka_NewPartitions_new(topic, max(total, 0), &text, text.count) else {
                throw KafkaError(
                    code: KafkaError.Code.invalidArgument, message: "topic \(topic): \(ClientHandle.string(text))")
            }
            raw.append(partitions)
        }
        return try request(
            RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeoutMilliseconds: timeoutMilliseconds,
            send: { options, queue in
                rd_kafka_CreatePartitions(handle.client, &raw, raw.count, options, queue)
            },
            read: { event in
                var count = 0
                let answer = rd_kafka_event_CreatePartitions_result(event)
                return Self.results(rd_kafka_CreatePartitions_result_topics(answer, &count), count)
            })
    }

    /// Deletes topics and every record in them.
    ///
    /// Nothing of the product does that: it is for tests.
    public func deleteTopics(_ topics: [String], timeoutMilliseconds: Int) throws(KafkaError) -> [TopicResult] {
        guard !topics.isEmpty else { return [] }
        var raw: [OpaquePointer?] = topics.map { rd_kafka_DeleteTopic_new($0) }
        defer { rd_kafka_DeleteTopic_destroy_array(&raw, raw.count) }
        return try request(
            RD_KAFKA_ADMIN_OP_DELETETOPICS, timeoutMilliseconds: timeoutMilliseconds,
            send: { options, queue in
                rd_kafka_DeleteTopics(handle.client, &raw, raw.count, options, queue)
            },
            read: { event in
                var count = 0
                let answer = rd_kafka_event_DeleteTopics_result(event)
                return Self.results(rd_kafka_DeleteTopics_result_topics(answer, &count), count)
            })
    }

    private static func makeNewTopic(_ topic: NewTopic) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
        let made = rd_kafka_NewTopic_new(
            topic.name, Int32(clamping: topic.partitions ?? -1), Int32(clamping: topic.replication ?? -1),
            &text, text.count)
        guard let made else {
            throw KafkaError(
                code: KafkaError.Code.invalidArgument,
                message: "topic \(topic.name): \(ClientHandle.string(text))")
        }
        for (name, value) in topic.configuration {
            // Only the broker checks names and values.
            rd_kafka_NewTopic_set_config(made, name, value)
        }
        return made
    }

    private static func results(
        _ raw: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
    ) -> [TopicResult] {
        UnsafeMutableBufferPointer(start: raw, count: raw == nil ? 0 : count).compactMap { result in
            guard let result else { return nil }
            let reason = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
            return TopicResult(
                topic: String(cString: rd_kafka_topic_result_name(result)),
                error: KafkaError(rd_kafka_topic_result_error(result), message: reason))
        }
    }
}
