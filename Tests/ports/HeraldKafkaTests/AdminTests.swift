import HeraldKafka
import TestSupport
import Testing

@Suite("Admin requests on a real broker", .realKafka("Admin requests on a real broker"))
struct AdminTests {
    private let timeout = Patience.timeout

    @Test("A topic is made with its configuration; a second attempt reports that it exists")
    func create() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = try kafka.makeTopic("made", partitions: 3, configuration: ["retention.ms": "60000"])
        let topic = try #require(try admin.metadata(topics: [name], timeout: timeout).topics.first)
        #expect(topic.partitions.map(\.id) == [0, 1, 2])
        #expect(topic.partitions.allSatisfy { $0.replicaCount == 1 && $0.inSyncReplicaCount == 1 })
        #expect(topic.error == nil)
        let again = try admin.createTopics([NewTopic(name: name, partitions: 1)], timeout: timeout)
        #expect(again.map(\.topic) == [name])
        #expect(again.first?.error?.code == KafkaError.Code.topicAlreadyExists)
        #expect(try admin.metadata(timeout: timeout).topics.contains { $0.name == name })
        #expect(admin.clusterID(timeout: timeout)?.isEmpty == false)
    }

    @Test("A missing topic is reported, and asking does not create it")
    func missing() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = RealKafka.uniqueName("missing")
        for _ in 0..<2 {
            let topic = try #require(try admin.metadata(topics: [name], timeout: timeout).topics.first)
            #expect(topic.error?.code == KafkaError.Code.unknownTopicOrPartition)
            #expect(topic.partitions.isEmpty)
        }
        let configuration = try admin.describeConfigs(topics: [name], timeout: timeout)
        #expect(configuration.first?.error?.code == KafkaError.Code.unknownTopicOrPartition)
    }

    @Test("A trial run makes nothing, and a wrong configuration is refused with its reason")
    func validate() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = RealKafka.uniqueName("trial")
        let good = try admin.createTopics(
            [NewTopic(name: name, partitions: 1)], validateOnly: true, timeout: timeout)
        #expect(good.allSatisfy { $0.error == nil })
        let bad = try admin.createTopics(
            [NewTopic(name: name, partitions: 1, configuration: ["retention.ms": "soon"])],
            timeout: timeout)
        #expect(bad.first?.error?.code == KafkaError.Code.invalidConfig)
        #expect(bad.first?.error?.message.contains("retention.ms") == true)
        let topic = try admin.metadata(topics: [name], timeout: timeout).topics.first
        #expect(topic?.error?.code == KafkaError.Code.unknownTopicOrPartition)
    }

    @Test("Changing one entry leaves the others alone, and nil restores the default")
    func alter() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = try kafka.makeTopic(
            "altered", configuration: ["retention.ms": "60000", "max.message.bytes": "2000000"])
        func own() throws -> [String: String] {
            let configuration = try #require(
                try admin.describeConfigs(topics: [name], timeout: timeout).first)
            #expect(configuration.error == nil)
            #expect(configuration.value("cleanup.policy") == "delete")
            return configuration.entries.filter(\.isOwn).reduce(into: [:]) { $0[$1.name] = $1.value }
        }
        let before = try own()
        #expect(before["retention.ms"] == "60000")
        let first = try admin.alterConfigs(
            [(name, ["retention.ms": "120000", "segment.ms": "50000"])], timeout: timeout)
        #expect(first.allSatisfy { $0.error == nil })
        let expected = before.merging(["retention.ms": "120000", "segment.ms": "50000"]) { $1 }
        #expect(try await eventually { try own() == expected })
        let second = try admin.alterConfigs([(name, ["segment.ms": nil])], timeout: timeout)
        #expect(second.allSatisfy { $0.error == nil })
        let remaining = expected.filter { $0.key != "segment.ms" }
        #expect(try await eventually { try own() == remaining })
        let missing = try admin.alterConfigs(
            [(RealKafka.uniqueName("missing"), ["segment.ms": nil])], timeout: timeout)
        #expect(missing.first?.error?.code == KafkaError.Code.unknownTopicOrPartition)
    }

    @Test("Partitions can be added but not removed")
    func partitions() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = try kafka.makeTopic("growing", partitions: 2)
        let more = try admin.createPartitions([(name, 5)], timeout: timeout)
        #expect(more.allSatisfy { $0.error == nil })
        #expect(try await sees(admin, name) { $0.partitions.count == 5 })
        let fewer = try admin.createPartitions([(name, 3)], timeout: timeout)
        #expect(fewer.first?.error?.code == KafkaError.Code.invalidPartitions)
    }

    @Test("A deleted topic is gone")
    func delete() async throws {
        let kafka = try await RealKafka.shared()
        let admin = try kafka.admin()
        let name = try kafka.makeTopic("deleted")
        let result = try admin.deleteTopics([name], timeout: timeout)
        #expect(result.map(\.topic) == [name])
        #expect(result.first?.error == nil)
        #expect(try await sees(admin, name) { $0.error?.code == KafkaError.Code.unknownTopicOrPartition })
    }

    /// Whether the topic comes to meet a condition: the controller knows at once, the asked broker a moment later.
    private func sees(
        _ admin: Admin, _ topic: String, _ condition: (ClusterMetadata.Topic) -> Bool
    ) async throws -> Bool {
        try await eventually {
            try admin.metadata(topics: [topic], timeout: timeout).topics.contains(where: condition)
        }
    }
}
