import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// docs/SCALING.md, *Two regions*, on two clusters, one test after another.
@Suite("A lost region", .ownKafka("A lost region"), .serialized, .hangLimit)
struct FailoverTests {
    /// Runs a test in two regions, the second of which has a topic for copies of the first one's requests.
    private func inTwoRegions(
        partitions: Int = 2, _ misbehaviour: [Misbehaviour],
        _ body: (_ lost: Fixture, _ other: Fixture) async throws -> Void
    ) async throws {
        var plan = Fixture.Plan()
        plan.partitions = partitions
        plan.more = [Self.copies] + ["1s", "2s"].map { "\(Self.retry).\($0)" }
        plan.misbehaviour = [.status(503) { ($0.user, $0.callsPerKey) = ("flaky-*", 1) }]
        var lostPlan = Fixture.Plan()
        lostPlan.partitions = partitions
        lostPlan.cluster = .mortal
        lostPlan.misbehaviour = misbehaviour
        // Its killed worker is a member until its session is over.
        lostPlan.settings = ["kafka.properties": Fixture.shortSession]
        try await Fixture.run(lostPlan) { lost in
            try await Fixture.run(plan) { other in try await body(lost, other) }
        }
    }

    private static let copies = "lost.notifications"
    private static let retry = "takeover.retry"

    /// A worker that consumes the copies, in a group of this name and with its own retry topics.
    private func startSuccessor(in other: Fixture, group: String) async throws -> HeraldProcess {
        try await other.startWorker(changing: [
            "kafka.group": group, "topics.requests": "[\(other.topic(Self.copies))]",
            "topics.retry": other.topic(Self.retry),
        ])
    }

    /// The ids of the called events.
    private func called(_ calls: some Sequence<RecordedCall>) -> Set<String> {
        Set(calls.compactMap { $0.notification.flatMap { $0.split(separator: ":").first.map(String.init) } })
    }

    private func ids(_ range: Range<Int>) -> Set<String> { Set(range.map { "e\($0)" }) }

    /// Events whose calls hang in the lost region, until its backend behaves again.
    private func hanging(_ range: Range<Int>) -> [Publication] {
        range.map { Publication(id: "e\($0)", user: "hanging-\($0)") }
    }

    /// Events whose first calls fail in the other region.
    private func flaky(_ range: Range<Int>, _ name: String = "e") -> [Publication] {
        range.map { Publication(id: "\(name)\($0)", user: "flaky-\(name)\($0)") }
    }

    @Test(
        "The other region delivers events copied since the chosen moment; the rest waits for the lost one",
        .long("two clusters and a mirror"))
    func takeover() async throws {
        try await inTwoRegions([.hang { $0.user = "hanging-*" }]) { lost, other in
            let worker = try await lost.startWorker()
            try await lost.publish(Batch.events(0..<200))
            try await lost.waitForResults(200)
            let moment = Date.now.addingTimeInterval(0.001)
            // A record's timestamp has milliseconds.
            try await lost.wait("the moment is over") { Date.now > moment.addingTimeInterval(0.001) }
            try await lost.publish(Batch.events(200..<470) + flaky(470..<500) + hanging(500..<530))
            try await lost.waitForResults(500)
            try await lost.wait("the others are being called") {
                called(lost.backend.calls) == ids(0..<530)
            }
            let mirror = try await Mirror(from: lost, "notifications", to: other, Self.copies)
            try await other.wait("everything is copied") { other.count(Self.copies) == 530 }
            mirror.stop()
            try await lost.publish(hanging(530..<540))
            worker.kill()
            lost.kafka.kill(node: 1)
            let before = lost.backend.calls

            // The other region has its own events and retries meanwhile.
            _ = try await other.startWorker()
            try await other.publish(flaky(0..<20, "own"))
            let group = "\(other.name)-takeover"
            try await Java.run(
                "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
                [
                    "--bootstrap-server", other.bootstrapServers, "--group", group, "--topic", other.topic(Self.copies),
                    "--reset-offsets", "--to-datetime",
                    moment.formatted(
                        Date.ISO8601FormatStyle(includingFractionalSeconds: true).year().month().day()
                            .time(includingFractionalSeconds: true)),
                    "--execute",
                ])
            let successor = try await startSuccessor(in: other, group: group)
            try await other.waitForResults(330 + 20)
            successor.terminate()
            #expect(try await successor.waitForExit() == 0)
            let oracle = try await Oracle(other)
            var expected = Batch.delivered(200..<530)
            for number in 470..<500 { expected["e\(number)"] = ["apns": "delivered 200 attempts 2"] }
            for number in 0..<20 { expected["own\(number)"] = ["apns": "delivered 200 attempts 2"] }
            oracle.expectResults(expected)
            oracle.expectCalls { key in
                expected[String(key.prefix { $0 != ":" })]?["apns"]?.hasSuffix("2") == true ? 2 : 1
            }
            #expect(called(before).intersection(called(oracle.calls)) == ids(200..<530), "called in both regions")
            let keys = Set(before.compactMap(\.idempotencyKey))
            let repeated = oracle.calls.filter { $0.notification?.hasPrefix("own") == false }
            #expect(repeated.allSatisfy { $0.idempotencyKey.map(keys.contains) == true })

            // Events without an outcome at the loss are called again, and uncopied ones are still there.
            lost.backend.misbehave([])
            try await lost.kafka.revive(node: 1)
            _ = try await lost.startWorker()
            try await lost.waitForResults(540, within: 120)
            let home = try await Oracle(lost)
            home.expectResults(Batch.delivered(0..<540, attempts: nil))
            #expect(called(home.calls.dropFirst(before.count)) == ids(500..<540))
        }
    }

    @Test(
        "Offsets translated by a mirror skip nothing: their metadata is foreign, and one line says so",
        .long("two clusters and a mirror"))
    func translatedOffsets() async throws {
        try await inTwoRegions(partitions: 1, [.hang { $0.user = "hanging-*" }]) { lost, other in
            let worker = try await lost.startWorker()
            try await lost.publish(hanging(0..<1) + Batch.events(1..<50))
            try await lost.waitForResults(49)
            let request = TopicPartition(topic: lost.topic("notifications"), partition: 0)
            var position: CommitPosition?
            try await lost.wait("what is done behind the first event is committed") {
                position?.metadata.isEmpty == false
            } meanwhile: {
                position = try await lost.commits()[request]
            }
            let committed = try #require(position)
            #expect(committed.offset == 0)
            let mirror = try await Mirror(from: lost, "notifications", to: other, Self.copies)
            try await other.wait("everything is copied") { other.count(Self.copies) == 50 }
            mirror.stop()
            worker.kill()

            // Like sync.group.offsets.enabled: the offset is the copy's, the metadata is unchanged.
            let copy = TopicPartition(topic: other.topic(Self.copies), partition: 0)
            try await other.commit([copy: 0], metadata: committed.metadata)
            let successor = try await startSuccessor(in: other, group: other.name)
            try await other.waitForResults(50)
            #expect(successor.logLines.count { $0.message.contains("metadata that is not Herald's") } == 1)
            let oracle = try await Oracle(other)
            oracle.expectResults(Batch.delivered(0..<50))
            oracle.expectCalls { _ in 1 }
        }
    }
}

/// Tests/Mirror, copying one topic of a fixture into one of another.
private final class Mirror: Sendable {
    private let process: ChildProcess

    init(from source: Fixture, _ topic: String, to target: Fixture, _ copy: String) async throws {
        let program = Repository.root.appending(path: "Tests/Mirror/Mirror.java")
        process = try await Java.start(
            [
                program.path, source.bootstrapServers, source.topic(topic), target.bootstrapServers,
                target.topic(copy),
            ], untilItWrites: "copying", log: target.directory.appending(path: "mirror.log"))
    }

    func stop() { process.kill() }
}
