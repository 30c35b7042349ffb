internal import CRDKafka
public import HeraldTime

/// One entry of a topic's configuration.
public struct TopicConfigurationEntry: Sendable, Equatable {
    /// Its name, such as `retention.ms`.
    public var name: String
    /// Its value; `nil` when the broker withholds it because it is sensitive.
    public var value: String?
    /// Whether it was set for this topic rather than inherited as a default.
    public var isOwn: Bool
}

/// A topic's configuration.
public struct TopicConfiguration: Sendable, Equatable {
    /// The topic's name.
    public var topic: String
    /// Its entries, defaults included.
    public var entries: [TopicConfigurationEntry]
    /// The reason that its entries are unknown.
    public var error: KafkaError?

    /// The value of the entry with this name.
    public func value(_ name: String) -> String? { entries.first { $0.name == name }?.value }
}

extension Admin {
    /// The configurations of these topics.
    public func describeConfigs(
        topics: [String], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicConfiguration] {
        try request(
            .describeConfigs, about: topics, timeout: timeout,
            make: { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }, read: Self.configuration)
    }

    /// Changes entries of topics' configurations (`nil`: back to the default) and leaves their other entries alone.
    ///
    /// The request that librdkafka 2.0 supports replaces every entry that was set for a topic, so the current entries
    /// are read and sent again. A change by another client between the two requests, or just before (brokers learn of
    /// it late), is undone.
    public func alterConfigs(
        _ changes: [(topic: String, entries: [String: String?])], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicResult] {
        let current = try describeConfigs(topics: changes.map(\.topic), timeout: timeout)
        var refused: [TopicResult] = []
        var merged: [(topic: String, entries: [String: String])] = []
        for (topic, entries) in changes {
            guard let now = current.first(where: { $0.topic == topic }) else { continue }
            do throws(KafkaError) {
                merged.append((topic, try Self.merged(now, entries)))
            } catch {
                refused.append(TopicResult(topic: topic, error: error))
            }
        }
        let answers = try request(
            .alterConfigs, about: merged, timeout: timeout,
            make: { topic, entries in
                let resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
                for (name, value) in entries { rd_kafka_ConfigResource_set_config(resource, name, value) }
                return resource
            }, read: Self.result)
        return refused + answers
    }

    /// The entries to send so that nothing but the changes changes.
    private static func merged(
        _ now: TopicConfiguration, _ changes: [String: String?]
    ) throws(KafkaError) -> [String: String] {
        if let error = now.error { throw error }
        var all: [String: String] = [:]
        for entry in now.entries where entry.isOwn && changes.index(forKey: entry.name) == nil {
            guard let value = entry.value else {
                let message = "topic \(now.topic): the broker hides \(entry.name), so it would be lost by this change"
                throw KafkaError(code: KafkaError.Code.invalidConfig, message: message)
            }
            all[entry.name] = value
        }
        for (name, value) in changes {
            if let value { all[name] = value }
        }
        return all
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
