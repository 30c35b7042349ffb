import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Truncated logs, and other programs in the group", .ownKafka("Truncated logs"), .hangLimit)
struct CutLogTests {
    private static let patient = [
        "kafka.properties": #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#
    ]

    /// The only partition of the request topic.
    private static func partition(_ fixture: Fixture) -> TopicPartition {
        TopicPartition(topic: fixture.topic("notifications"), partition: 0)
    }

    private static func onePartition(on cluster: Fixture.Cluster) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.cluster = cluster
        plan.partitions = 1
        plan.settings = patient
        return plan
    }

    @Test(
        "An unclean election loses the end of a log: no user is called again, and new events are called"
    )
    func uncleanElection() async throws {
        var plan = Self.onePartition(on: .three)
        plan.replication = ["notifications": 2]
        plan.topicConfigurations = [
            "notifications": ["unclean.leader.election.enable": "true", "min.insync.replicas": "1"]
        ]
        try await Fixture.run(plan) { fixture in
            let kafka = fixture.kafka
            let admin = try kafka.admin()
            let name = fixture.topic("notifications")
            func partition() throws -> ClusterMetadata.Partition? {
                try admin.metadata(topics: [name], timeout: Patience.timeout).topics.first?.partitions.first
            }
            try await fixture.wait("two copies") { (try? partition())??.inSyncReplicaCount == 2 }
            let replicas = try #require(try partition())
            let leader = Int(try #require(replicas.leader))
            let behind = Int(try #require(replicas.replicas.first { $0 != replicas.leader }))

            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<30))
            try await fixture.waitForResults(30)
            kafka.kill(node: behind)
            try await fixture.wait("one copy") { try partition()?.inSyncReplicaCount == 1 }
            try await fixture.publish(Batch.events(30..<39))
            try await fixture.waitForResults(39, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            kafka.kill(node: leader)
            try await kafka.revive(node: behind)
            try await fixture.wait("the other leads") { (try? partition())??.leader == Int32(behind) }
            try await fixture.publish(Batch.events(39..<45))
            try await fixture.waitForResults(45, within: 120)
            let line = try await worker.waitForLog("its log was cut off")
            #expect(line.level == "warning" && line.message.contains("\(name) [0] ends before offset 39"))
            let gone = "the records of offsets 30 to 38 are gone, which were read before and called"
            #expect(line.message.contains(gone), "\(line.message)")
            let page = try await worker.page("/readyz").text
            #expect(page.contains("offsets-passed-over") && page.contains(gone), "\(page)")
            #expect(try await worker.metrics()[#"herald_offsets_gone_total{outcome="known"}"#] == 9)
            let passed = try await worker.metrics()[#"herald_offsets_passed_over_total{cause="cut"}"#]
            #expect((passed ?? 0) >= 30)
            try await kafka.revive(node: leader)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<45))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test(
        "A disk loses the end of a log while no worker runs: only events written since are called",
        arguments: [2, 15])
    func lostEnd(new: Int) async throws {
        try await Fixture.run(Self.onePartition(on: .mortal)) { fixture in
            let (kafka, partition) = (fixture.kafka, Self.partition(fixture))
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            let size = try kafka.logSize(of: partition)
            try await fixture.publish(Batch.events(20..<29))
            try await fixture.waitForResults(29)
            try await fixture.waitUntilAllIsCommitted()
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            kafka.kill(node: 1)
            try kafka.cutLog(of: partition, to: size)
            try await kafka.revive(node: 1)
            // The group stands at 29: fewer leave the log shorter than that, more do not.
            try await fixture.publish(Batch.events(29..<29 + new))
            let second = try await fixture.startWorker()
            try await fixture.waitForResults(29 + new, within: 120)
            _ = try await second.waitForLog(new < 9 ? "its log was cut off (" : "has other records from offset 20 on")
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<29 + new))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A topic recreated while no worker runs begins at its first record", arguments: [3, 30])
    func madeAgain(new: Int) async throws {
        try await Fixture.run(Self.onePartition(on: .shared)) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await fixture.waitUntilAllIsCommitted()
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            let position = try #require(try await fixture.commits()[Self.partition(fixture)])
            try await fixture.deleteTopic("notifications")
            try await fixture.makeTopic("notifications")
            // A broker forgets the offsets of a topic that it deletes; a copy of the group's offsets does not.
            try await fixture.commit([position.partition: position.offset], metadata: position.metadata)
            try await fixture.publish(Batch.events(20..<20 + new))
            let second = try await fixture.startWorker()
            try await fixture.waitForResults(20 + new)
            _ = try await second.waitForLog(new < 20 ? "the topic was recreated" : "has other records from offset 0 on")
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<20 + new))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("Offsets that another program commits in the group are counted and reported")
    func stranger() async throws {
        var plan = Self.onePartition(on: .shared)
        plan.more = ["notifications.audit"]
        plan.settings = ["kafka.properties": Fixture.shortSession]
        try await Fixture.run(plan) { fixture in
            let partition = Self.partition(fixture)
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(10)
            try await fixture.waitUntilAllIsCommitted()
            // A paused worker is expelled from its group, which then has no members.
            worker.pause()
            try await fixture.publish(Batch.events(10..<14))
            let admin = try fixture.kafka.admin()
            try await fixture.wait("the group is without members") {
                try admin.describeGroup(fixture.name, timeout: Patience.timeout).members.isEmpty
            }
            try await fixture.commit([partition: 14])
            worker.resume()
            let line = try await worker.waitForLog("went from 10 to 14 without Herald")
            #expect(line.level == "warning" && line.message.contains("4 offsets"))
            let isTold = try await eventually { try await worker.page("/readyz").text.contains("offsets-passed-over") }
            #expect(isTold)
            let passed = try await worker.metrics()[#"herald_offsets_passed_over_total{cause="foreign"}"#]
            #expect(passed == 4)
            try await fixture.publish(Batch.events(14..<16))
            try await fixture.waitForResults(12)
            // Following the line's advice: events that the other program took are called, and no user twice.
            #expect(line.message.contains("\(partition.topic):0 --delete-offsets"))
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await Java.run(
                "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
                [
                    "--bootstrap-server", fixture.bootstrapServers, "--group", fixture.name,
                    "--topic", "\(partition.topic):0", "--delete-offsets",
                ])
            let restored = try await fixture.tool("offsets", "restore", "--yes")
            #expect(restored.status == 0, "\(restored.output)")
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(16)
            try await Oracle(fixture).expectCalls { _ in 1 }
        }
    }
}
