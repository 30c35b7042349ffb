import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("A cluster that loses a node", .ownKafka("A cluster that loses a node"), .hangLimit)
struct ClusterTests {
    /// Long enough for a cluster to find new leaders, so that nobody loses partitions meanwhile.
    private static let patient = [
        "kafka.properties": #"{session.timeout.ms: "30000", heartbeat.interval.ms: "500"}"#
    ]

    @Test(
        "The group's coordinator, the transactions' and leaders move when their nodes die: no event is lost, none is recorded or called twice"
    )
    func leadersMove() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        plan.settings = Self.patient.merging(["delivery.maxInFlight": "20", "kafka.instance": "pod-0"]) { $1 }
        plan.misbehaviour = [.latency(milliseconds: 20...20)]
        try await Fixture.run(plan) { fixture in
            let kafka = fixture.kafka
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<900))
            let coordinators: [(String, topic: String)] = [
                (fixture.name, "__consumer_offsets"), ("\(fixture.name)-pod-0-0", "__transaction_state"),
            ]
            for (round, (name, topic)) in coordinators.enumerated() {
                try await fixture.waitForResults(100 + round * 350, within: 120)
                let node = try Self.coordinator(of: name, in: topic, kafka)
                kafka.kill(node: node)
                try await fixture.waitForResults(250 + round * 350, within: 120)
                try await kafka.revive(node: node)
            }
            try await fixture.waitForResults(900, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<900))
            oracle.expectCalls { _ in 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    /// The node that coordinates a group or a transactional id, found as brokers do: by Java's hash of its name.
    private static func coordinator(of name: String, in topic: String, _ kafka: RealKafka) throws -> Int {
        let hash = name.utf16.reduce(Int32(0)) { $0 &* 31 &+ Int32($1) }
        let found = try kafka.admin().metadata(topics: [topic], timeoutMilliseconds: Patience.milliseconds).topics
        let partitions = try #require(found.first).partitions
        let number = hash == .min ? 0 : abs(hash) % Int32(partitions.count)
        return Int(try #require(partitions.first { $0.id == number }?.leader))
    }

    @Test(
        "One partition without a leader: its events wait, those of the others are delivered, and it goes on by itself")
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
                try admin.metadata(topics: [name], timeoutMilliseconds: Patience.milliseconds).topics.flatMap(
                    \.partitions)
            }
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
            // Published while the worker is not looking, and then there is nobody to fetch them from.
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
