import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("How a worker starts", .realKafka("How a worker starts"))
struct StartTests {
    @Test(
        "A missing topic ends the worker with 1 and the command that fixes it",
        arguments: [
            "notifications", "notifications.results", "notifications.retry.2s", "notifications.dead-letter",
        ])
    func missingTopic(topic: String) async throws {
        var plan = World.Plan()
        plan.missing = topic
        try await World.run(plan) { world in
            let worker = try world.spawnWorker()
            #expect(try await worker.waitForExit() == 1)
            let line = try #require(worker.logLines.last { $0.level == "error" })
            #expect(line.message.contains(world.topic(topic)))
            #expect(line.message.contains("herald topics apply"))
        }
    }

    @Test("Wrong settings end the worker with 78 and all mistakes at once, before anything is consumed")
    func wrongSettings() async throws {
        try await World.run { world in
            try await world.publish([Publication(id: "e", user: "anna")])
            let worker = try world.spawnWorker(changing: [
                "retry.immediate": "many", "retry.delays": "[2s, 1s]", "delivery.guarantee": "hopefully",
            ])
            #expect(try await worker.waitForExit() == 78)
            for name in ["retry.immediate", "retry.delays", "delivery.guarantee"] {
                #expect(worker.output.contains(name), "\(name) is not named")
            }
            #expect(world.backend.calls.isEmpty)
            #expect(try await world.committed().values.allSatisfy { $0 == 0 })
        }
    }

    @Test("A group without offsets begins at the earliest record")
    func earliest() async throws {
        try await World.run { world in
            try await world.publish((0..<10).map { Publication(id: "e\($0)", user: "u\($0)") })
            _ = try await world.startWorker()
            try await world.waitForResults(10)
        }
    }

    @Test("A topic that was made anew, shorter than the committed offset, begins at its first record with a warning")
    func madeAnew() async throws {
        try await World.run { world in
            try await world.publish((0..<10).map { Publication(id: "e\($0)", user: "u\($0)") })
            try await world.commit([
                TopicPartition(topic: world.topic("notifications"), partition: 0): 100_000,
                TopicPartition(topic: world.topic("notifications"), partition: 1): 0,
            ])
            let worker = try await world.startWorker()
            let line = try await worker.waitForLog("recreated")
            #expect(line.level == "warning")
            #expect(line.text.contains("100000"))
            try await world.waitForResults(10)
            try await world.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await Oracle(world).expectCalls { _ in 1 }
        }
    }

    @Test("Records that were lost to retention end the worker with 1 and their number", .ownKafka("Lost records"))
    func lost() async throws {
        try await World.run { world in
            var events = (0..<10).map { Publication(id: "e\($0)", user: "u\($0)") }
            for index in events.indices { events[index].partition = 0 }
            try await world.publish(events)
            let partition = TopicPartition(topic: world.topic("notifications"), partition: 0)
            try await world.commit([partition: 2])
            try await Self.deleteRecords(of: partition, before: 7, in: world)
            let worker = try world.spawnWorker()
            #expect(try await worker.waitForExit() == 1)
            let line = try #require(worker.logLines.last { $0.level == "error" })
            #expect(line.message.contains("5 records"))
            #expect(line.message.contains(partition.description))
            #expect(world.backend.calls.isEmpty)
            #expect(try await world.committed()[partition] == 2)
        }
    }

    /// Deletes the first records of a partition with Kafka's own tool, as retention does.
    private static func deleteRecords(of partition: TopicPartition, before offset: Int, in world: World) async throws {
        let file = world.directory.appending(path: "delete.json")
        try """
        {"version":1,"partitions":[{"topic":"\(partition.topic)","partition":\(partition.partition),"offset":\(offset)}]}
        """.write(to: file, atomically: true, encoding: .utf8)
        try await world.runTool("DeleteRecordsCommand", ["--offset-json-file", file.path])
    }
}
