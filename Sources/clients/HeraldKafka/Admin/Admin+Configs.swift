internal import CRDKafka

/// One entry of a topic's configuration.
public struct TopicConfigurationEntry: Sendable, Equatable {
    /// Its name, such as `retention.ms`.
    public var name: String
    /// Its value; `nil` when the broker does not tell (it is sensitive).
    public var value: String?
    /// Whether it was set for this very topic, and is no default.
    public var isOwn: Bool
}

/// A topic's configuration.
public struct TopicConfiguration: Sendable, Equatable {
    /// The topic's name.
    public var topic: String
    /// Its entries, defaults included.
    public var entries: [TopicConfigurationEntry]
    /// Why nothing is known of it.
    public var error: KafkaError?

    /// The value of the entry with this name.
    public func value(_ name: String) -> String? { entries.first { $0.name == name }?.value }
}

extension Admin {
    /// The configurations of these topics.
    public func describeConfigs(
        topics: [String], timeoutMilliseconds: Int
    ) throws(KafkaError) -> [TopicConfiguration] {
        guard !topics.isEmpty else { return [] }
        var raw = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { rd_kafka_ConfigResource_destroy_array(&raw, raw.count) }
        return try request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeoutMilliseconds: timeoutMilliseconds,
            send: { options, queue in
                rd_kafka_DescribeConfigs(handle.client, &raw, raw.count, options, queue)
            },
            read: { event in
                var count = 0
                let answer = rd_kafka_event_DescribeConfigs_result(event)
                let resources = rd_kafka_DescribeConfigs_result_resources(answer, &count)
                return UnsafeMutableBufferPointer(start: resources, count: resources == nil ? 0 : count)
                    .compactMap { $0.map(Self.configuration) }
            })
    }

    /// Changes entries of topics' configurations (`nil`: back to the default) and leaves their other entries alone.
    ///
    /// The request that librdkafka 2.0 knows replaces everything that was set for a topic, so what is set now is read and
    /// sent again; a change that somebody else makes between the two, or a moment before (brokers hear of it late), is
    /// undone.
    public func alterConfigs(
        _ changes: [(topic: String, entries: [String: String?])], timeoutMilliseconds: Int
    ) throws(KafkaError) -> [TopicResult] {
        let current = try describeConfigs(
            topics: changes.map(\.topic), timeoutMilliseconds: timeoutMilliseconds)
        var results: [TopicResult] = []
        var raw: [OpaquePointer?] = []
        defer { rd_kafka_ConfigResource_destroy_array(&raw, raw.count) }
        for (topic, entries) in changes {
            guard let now = current.first(where: { $0.topic == topic }) else { continue }
            switch Self.merged(now, entries) {
            case .failure(let error):
                results.append(TopicResult(topic: topic, error: error))
            case .success(let all):
                let resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
                for (name, value) in all { rd_kafka_ConfigResource_set_config(resource, name, value) }
                raw.append(resource)
            }
        }
        guard !raw.isEmpty else { return results }
        return results
            + (try request(
                RD_KAFKA_ADMIN_OP_ALTERCONFIGS, timeoutMilliseconds: timeoutMilliseconds,
                send: { options, queue in
                    rd_kafka_AlterConfigs(handle.client, &raw, raw.count, options, queue)
                },
                read: { event in
                    var count = 0
                    let answer = rd_kafka_event_AlterConfigs_result(event)
                    let resources = rd_kafka_AlterConfigs_result_resources(answer, &count)
                    return UnsafeMutableBufferPointer(start: resources, count: resources == nil ? 0 : count)
                        .compactMap { $0.map(Self.result) }
                }))
    }

    /// All that has to be sent for the changes to be the only ones.
    private static func merged(
        _ now: TopicConfiguration, _ changes: [String: String?]
    ) -> Result<[String: String], KafkaError> {
        if let error = now.error { return .failure(error) }
        var all: [String: String] = [:]
        for entry in now.entries where entry.isOwn && changes.index(forKey: entry.name) == nil {
            guard let value = entry.value else {
                let message = "topic \(now.topic): the broker hides \(entry.name), so it would be lost by this change"
                return .failure(KafkaError(code: KafkaError.Code.invalidConfig, message: message))
            }
            all[entry.name] = value
        }
        for (name, value) in changes {
            if let value { all[name] = value }
        }
        return .success(all)
    }

    private static func configuration(_ resource: OpaquePointer) -> TopicConfiguration {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        let result = result(resource)
        return TopicConfiguration(
            topic: result.topic,
            entries: UnsafeMutableBufferPointer(start: entries, count: entries == nil ? 0 : count).compactMap { entry in
                guard let entry else { return nil }
                return TopicConfigurationEntry(
                    name: String(cString: rd_kafka_ConfigEntry_name(entry)),
                    value: rd_kafka_ConfigEntry_value(entry).map { String(cString: $0) },
                    isOwn: rd_kafka_ConfigEntry_source(entry) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG)
            },
            error: result.error)
    }

    private static func result(_ resource: OpaquePointer) -> TopicResult {
        let reason = rd_kafka_ConfigResource_error_string(resource).map { String(cString: $0) }
        return TopicResult(
            topic: String(cString: rd_kafka_ConfigResource_name(resource)),
            error: KafkaError(rd_kafka_ConfigResource_error(resource), message: reason))
    }
}
