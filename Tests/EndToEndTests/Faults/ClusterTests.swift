import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("A cluster that loses a node", .ownKafka("A cluster that loses a node"), .hangLimit)
struct ClusterTests {
    /// Long enough for a cluster to find new leaders, so that no member loses partitions meanwhile.
    private static let patient = [
        "kafka.properties": #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#
    ]

    @Test("Coordinators of group and transactions die: no event is lost, none recorded or called twice")
    func leadersMove() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        // Transactions are open for long enough that a node dies in one.
        plan.settings = Self.patient.merging(Held.settings) { $1 }
            .merging(["kafka.instance": "pod-0", "delivery.commitInterval": "2s"]) { $1 }
        try await Fixture.run(plan) { fixture in
            let kafka = fixture.kafka
            let worker = try await fixture.startWorker()
            let coordinators: [(String, topic: String)] = [
                (fixture.name, "__consumer_offsets"), ("\(fixture.name)-pod-0-0", "__transaction_state"),
            ]
            for (round, (name, topic)) in coordinators.enumerated() {
                fixture.backend.misbehave([.hold()])
                try await fixture.publish(Batch.events(round * 100..<(round + 1) * 100))
                try await Self.openTransaction(fixture)
                let node = try Self.coordinator(of: name, in: topic, kafka)
                kafka.kill(node: node)
                fixture.backend.misbehave([])
                try await fixture.waitForResults((round + 1) * 100, within: 120)
                try await kafka.revive(node: node)
            }
            try await fixture.publish(Batch.events(200..<250))
            try await fixture.waitForResults(250, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<250))
            oracle.expectCalls { _ in 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    /// Lets some calls be answered, whose outcomes the worker then writes, while others are in flight.
    private static func openTransaction(_ fixture: Fixture) async throws {
        try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
        let before = fixture.backend.calls.count
        fixture.backend.release(5)
        try await fixture.wait("the next are in flight") { fixture.backend.calls.count == before + 5 }
    }

    /// The node that coordinates a group or a transactional id, found like brokers do: by Java's hash of its name.
    private static func coordinator(of name: String, in topic: String, _ kafka: RealKafka) throws -> Int {
        let hash = name.utf16.reduce(Int32(0)) { $0 &* 31 &+ Int32($1) }
        let found = try kafka.admin().metadata(topics: [topic], timeout: Patience.timeout).topics
        let partitions = try #require(found.first).partitions
        let number = hash == .min ? 0 : abs(hash) % Int32(partitions.count)
        return Int(try #require(partitions.first { $0.id == number }?.leader))
    }

    @Test("Events of a partition without a leader wait, others are delivered, and it continues by itself")
    func leaderless() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        plan.replication = ["notifications": 1]
        plan.settings = Self.patient
        try await Fixture.run(plan) { fixture in
            let kafka = fixture.kafka
            let admin = try kafka.admin()
            let name = fixture.topic("notifications")
            func partitions() throws -> [ClusterMetadata.Partition] {
                try admin.metadata(topics: [name], timeout: Patience.timeout).topics.flatMap(
                    \.partitions)
            }
            // A node that has just come back from an earlier test learns of a topic a moment later.
            try await fixture.wait("the topic's partitions") { (try? partitions().count { $0.leader != nil }) == 3 }
            let lost = try #require(try partitions().first)
            let node = Int(try #require(lost.leader))
            let others = Set(try partitions().filter { $0.leader != lost.leader }.map(\.id))
            try #require(!others.isEmpty)

            let worker = try await fixture.startWorker()
            func events(_ range: Range<Int>, in partitions: Set<Int32>) -> [Publication] {
                range.map {
                    var event = Publication(id: "e\($0)", user: "user-\($0)")
                    event.partition = partitions.sorted()[$0 % partitions.count]
                    return event
                }
            }
            try await fixture.publish(events(0..<30, in: [lost.id]))
            try await fixture.waitForResults(30)
            try await fixture.waitUntilAllIsCommitted()
            // Published while the worker is stopped, after which they can no longer be fetched.
            kafka.kill(node: node)
            try await fixture.wait("the partition has no leader") {
                try partitions().first { $0.id == lost.id }?.leader == nil
            }
            try await fixture.publish(events(30..<130, in: others))
            try await fixture.waitForResults(130, within: 120)
            try await worker.waitUntilNotReady("partitions-without-leader", naming: "\(name)/\(lost.id)")
            try await kafka.revive(node: node)
            try await fixture.publish(events(130..<160, in: [lost.id]))
            try await fixture.waitForResults(160, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            try await worker.waitUntilReady()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<160))
            oracle.expectCalls { _ in 1 }
        }
    }
}
