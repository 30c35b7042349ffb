import HeraldKafka
import TestSupport
import Testing

@Suite("Making topics, as a process on a real broker", .realKafka("Making topics, as a process on a real broker"))
struct TopicsCommandTests {
    private let timeout = Patience.timeout

    private func configuration(_ fixture: ClusterFixture, of topic: String) async throws -> TopicConfiguration {
        let timeout = timeout
        let all = try await Blocking.run {
            try fixture.kafka.admin().describeConfigs(topics: [topic], timeout: timeout)
        }
        return try #require(all.first)
    }

    private func partitions(_ fixture: ClusterFixture, of topic: String) async throws -> Int? {
        let timeout = timeout
        return try await Blocking.run {
            try fixture.kafka.admin().metadata(topics: [topic], timeout: timeout).topics.first?.partitions
                .count
        }
    }

    @Test("Missing topics are planned, created only with a confirmation, and then all is well")
    func make() async throws {
        let fixture = try await ClusterFixture()
        let plan = try await fixture.herald("topics", "plan", "-o", "jsonl")
        #expect(plan.status == 0)
        #expect(plan.records.map { $0["topic"] as? String } == fixture.all)
        #expect(plan.records.allSatisfy { $0["action"] as? String == "create" && $0["now"] == nil })
        #expect(plan.error.contains("herald topics apply makes 9 changes."))
        #expect(try await fixture.herald("topics", "check").status == 1)

        let refused = try await fixture.herald("topics", "apply")
        #expect(refused.status == 4 && refused.error.contains("add --yes"))
        #expect(try await partitions(fixture, of: fixture.requests) == 0)

        let made = try await fixture.herald("topics", "apply", "--yes")
        #expect(made.status == 0 && made.error.contains("9 changes made."), "\(made.error)")
        for topic in [fixture.campaigns, fixture.audiences, fixture.state, fixture.audit] {
            #expect(try await partitions(fixture, of: topic) == 1)
        }
        #expect(try await configuration(fixture, of: fixture.state).value("cleanup.policy") == "compact")
        for topic in fixture.all.dropLast(4) {
            #expect(try await partitions(fixture, of: topic) == 3)
            let configuration = try await configuration(fixture, of: topic)
            #expect(configuration.value("retention.ms") == "604800000")
            #expect(configuration.value("cleanup.policy") == "delete")
        }
        let check = try await fixture.herald("topics", "check")
        #expect(check.status == 0 && check.output.isEmpty, "\(check.output)")
        let again = try await fixture.herald("topics", "apply")
        #expect(again.status == 0 && again.error == "The topics are as the settings want them.\n")
        try await fixture.deleteTopics()
    }

    @Test("Differences are changed, a surplus stays, and other entries are left alone")
    func change() async throws {
        let fixture = try await ClusterFixture()
        let topics = [
            NewTopic(name: fixture.requests, partitions: 5, configuration: ["retention.ms": "800000000"]),
            NewTopic(
                name: fixture.results, partitions: 1, configuration: ["retention.ms": "5000", "segment.ms": "60000"]),
            NewTopic(
                name: "\(fixture.retry).5s", partitions: 3,
                configuration: ["max.message.bytes": "1000", "cleanup.policy": "compact,delete"]),
            NewTopic(name: fixture.deadLetter, partitions: 3),
        ]
        try await Blocking.run { try fixture.kafka.makeTopics(topics) }
        let run = try await fixture.herald("topics", "apply", "--yes", "-o", "jsonl")
        #expect(run.status == 0, "\(run.error)")
        let steps = run.records.map { record in
            [record["property"] as? String ?? "", record["action"] as? String ?? ""].joined(separator: " ")
        }
        #expect(
            steps == [
                "partitions none", "retention.ms none", "compression.type change", "partitions change",
                "retention.ms change",
                "cleanup.policy change", "max.message.bytes change", "topic create", "partitions change",
                "max.message.bytes change", "topic create", "topic create", "topic create", "topic create",
            ])
        #expect(try await partitions(fixture, of: fixture.requests) == 5)
        #expect(try await configuration(fixture, of: fixture.requests).value("retention.ms") == "800000000")
        #expect(try await partitions(fixture, of: fixture.results) == 3)
        let results = try await configuration(fixture, of: fixture.results)
        #expect(results.value("retention.ms") == "604800000" && results.value("segment.ms") == "60000")
        let retry = try await configuration(fixture, of: "\(fixture.retry).5s")
        #expect(retry.value("cleanup.policy") == "delete" && retry.value("max.message.bytes") == "1064972")
        #expect(try await partitions(fixture, of: "\(fixture.retry).1m") == 3)
        // Equal to the largest request topic's number.
        #expect(try await partitions(fixture, of: fixture.deadLetter) == 5)
        let check = try await fixture.herald("topics", "check")
        #expect(check.status == 0 && check.output.contains("more than wanted is fine"))
        try await fixture.deleteTopics()
    }

    @Test("Problems for a person end with 3 beside the changes, and the cluster's refusals are named")
    func byHand() async throws {
        let fixture = try await ClusterFixture()
        try await Blocking.run {
            try fixture.kafka.makeTopics([
                NewTopic(name: fixture.results, partitions: 3, configuration: ["cleanup.policy": "compact"])
            ])
        }
        let refused = try await fixture.herald(
            "topics", "apply", "--yes", "--topics-replication-factor", "50", "--topics-partitions", "3")
        #expect(refused.status == 1, "\(refused.error)")
        #expect(refused.error.contains("herald: topic \(fixture.requests): INVALID_REPLICATION_FACTOR"))
        let part = try await fixture.herald("topics", "apply", "--yes")
        #expect(part.status == 3 && part.error.contains("1 difference must be fixed by hand."))
        #expect(try await configuration(fixture, of: fixture.results).value("cleanup.policy") == "compact")
        #expect(try await fixture.herald("topics", "check").status == 1)
        #expect(try await fixture.herald("topics", "apply").status == 3)
        try await fixture.deleteTopics()
    }

    @Test("An unreachable cluster ends with 5")
    func unreachable() async throws {
        let run = try await HeraldProgram.run(
            ["topics", "check"], environment: ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
        #expect(run.status == 5 && run.output.isEmpty && run.error.hasPrefix("herald: no broker answers at"))
    }
}

@Suite("Making topics on three brokers", .ownKafka("Making topics on three brokers"))
struct TopicsOnThreeBrokersTests {
    @Test("With the cluster's default of three replicas two must be in sync, once the topics are there")
    func inSync() async throws {
        try await RealKafka.three.take(Self.inSync)
    }

    private static func inSync(_ kafka: RealKafka) async throws {
        let environment = ["HERALD_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers]
        let run = try await HeraldProgram.run(["topics", "apply", "--yes"], environment: environment)
        #expect(run.status == 0, "\(run.error)")
        // Each of the three brokers learns a topic's settings a moment after the answer.
        let areThere = try await eventually {
            let values = try await Blocking.run {
                try kafka.admin().describeConfigs(
                    topics: ["notifications", "notifications.dead-letter"], timeout: Patience.timeout
                ).map { [$0.value("min.insync.replicas"), $0.value("retention.ms")] }
            }
            return values == [["2", "604800000"], ["2", "604800000"]]
        }
        #expect(areThere)
        let areSettled = try await eventually {
            try await HeraldProgram.run(["topics", "check"], environment: environment).status == 0
        }
        #expect(areSettled)
    }
}
