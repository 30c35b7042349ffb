import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("The start of a worker", .realKafka("The start of a worker"))
struct StartTests {
    @Test("A missing topic ends the worker with 1 and the command that fixes it")
    func missingTopic() async throws {
        try await Fixture.run { fixture in
            let missing = fixture.topic("missing")
            let cases = [
                (changes: ["topics.requests": "[\(missing)]"], named: missing),
                (changes: ["topics.results": missing], named: missing),
                (changes: ["topics.retry": missing], named: "\(missing).1s"),
                (changes: ["topics.deadLetter": missing], named: missing),
            ]
            let workers = try cases.map { try fixture.spawnWorker(changing: $0.changes) }
            for (worker, (changes, name)) in zip(workers, cases) {
                #expect(try await worker.waitForExit() == 1, "\(changes)")
                let line = try #require(worker.logLines.last { $0.level == "error" })
                #expect(line.message.contains(name))
                #expect(line.message.contains("herald topics apply"))
            }
        }
    }

    @Test("Wrong settings end the worker with 78 and all mistakes at once, before anything is consumed")
    func wrongSettings() async throws {
        try await Fixture.run { fixture in
            try await fixture.publish([Publication(id: "e", user: "anna")])
            let worker = try fixture.spawnWorker(changing: [
                "retry.immediate": "many", "retry.delays": "[2s, 1s]", "delivery.guarantee": "hopefully",
            ])
            #expect(try await worker.waitForExit() == 78)
            for name in ["retry.immediate", "retry.delays", "delivery.guarantee"] {
                #expect(worker.output.contains(name), "\(name) is not named")
            }
            #expect(fixture.backend.calls.isEmpty)
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 })
        }
    }

    @Test("A group without offsets begins at the earliest record")
    func earliest() async throws {
        try await Fixture.run { fixture in
            try await fixture.publish((0..<10).map { Publication(id: "e\($0)", user: "u\($0)") })
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(10)
        }
    }

    @Test("A topic that ends before an offset of unknown origin continues at its end, and names the command")
    func unproven() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        try await Fixture.run(plan) { fixture in
            try await fixture.publish(Batch.events(0..<10))
            let partition = TopicPartition(topic: fixture.topic("notifications"), partition: 0)
            try await fixture.commit([partition: 100_000])
            let worker = try await fixture.startWorker()
            let line = try await worker.waitForLog("nothing shows whether")
            #expect(line.level == "warning")
            for part in ["100000", "offsets 0 to 9 ", "--topic \(partition.topic):0 --reset-offsets --to-earliest"] {
                #expect(line.message.contains(part), "\(line.message)")
            }
            try await fixture.publish(Batch.events(10..<15))
            try await fixture.waitForResults(5)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(10..<15))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("Offsets with foreign metadata skip nothing, and one line says so")
    func foreignMetadata() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        try await Fixture.run(plan) { fixture in
            try await fixture.publish(Batch.events(0..<10))
            // Herald's note for the first three done, with the check sum of another partition.
            let partition = TopicPartition(topic: fixture.topic("notifications"), partition: 0)
            try await fixture.commit([partition: 0], metadata: "h2bAAAAAA4")
            let worker = try await fixture.startWorker()
            try await fixture.waitForResults(10)
            #expect(worker.logLines.count { $0.message.contains("metadata that is not Herald's") } == 1)
            try await Oracle(fixture).expectCalls { _ in 1 }
        }
    }
}
