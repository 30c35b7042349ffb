import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Records that the brokers refuse", .realKafka("Records that the brokers refuse"), .timeLimit(.minutes(20)))
struct RefusedRecordTests {
    @Test(
        "The result topic is deleted under a running worker: no commit, an alarm, and it goes on when it is there again"
    )
    func deletedResultTopic() async throws {
        try await World.run { world in
            let worker = try await world.startWorker()
            let committed = try await world.committed()
            try await world.deleteTopic("notifications.results")
            try await world.publish(Batch.events(0..<30))
            try await world.wait("all are called") { world.backend.calls.count == 30 }
            let alarm = try await worker.waitForLog("the broker does not accept records")
            #expect(alarm.level == "error")
            #expect(try await world.committed() == committed)
            #expect(worker.isRunning)

            try await world.makeTopic("notifications.results")
            try await world.waitForResults(30)
            try await world.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(world)
            oracle.expectResults(Batch.delivered(0..<30))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A dead letter is too large for its topic: it is kept without its value, and says so")
    func withoutValue() async throws {
        var plan = World.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "2000"]]
        plan.misbehaviour = [.status(400) { $0.user = "large" }]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            _ = try await worker.waitForLog("run `herald topics apply`")
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 3_000))
            try await world.publish([large] + Batch.events(0..<50))
            try await world.waitForResults(51)
            try await world.waitUntilAllIsCommitted()
            let letter = try #require(world.deadLetters.first)
            #expect(letter.value == nil && letter.key == large.key)
            #expect(letter.heraldHeaders["herald-omitted"] == "history,detail,value")
            #expect(letter.heraldHeaders["herald-reason"] == "rejected")
        }
    }

    @Test(
        "A dead letter is too large for its topic whatever is left out: others are recorded, an alarm, and it is there when the limit is raised"
    )
    func dead() async throws {
        var plan = World.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "300"]]
        plan.misbehaviour = [.status(400) { $0.user = "large" }]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            let text = String(repeating: "x", count: 3_000)
            let large = Publication(id: "large", user: "large", message: text)
            try await world.publish([large] + Batch.events(0..<100))
            try await world.waitForResults(100)
            let alarm = try await worker.waitForLog("too large for its topic")
            #expect(alarm.level == "error")
            // It is offered again, and meanwhile others get through.
            try await world.publish(Batch.events(100..<200))
            try await world.waitForResults(200)
            #expect(world.deadLetters.isEmpty)

            try await world.configure("notifications.dead-letter", ["max.message.bytes": "100000"])
            try await world.waitForResults(201, within: 120)
            try await world.waitUntilAllIsCommitted()
            let oracle = try await Oracle(world)
            oracle.expectResults(
                Batch.delivered(0..<200).merging(["large": ["apns": "dead-lettered rejected 400 attempts 1"]]) { $1 })
            oracle.expectCalls { _ in 1 }
            #expect(world.deadLetters.map(\.value) == [large.value])
            #expect(world.deadLetters.first?.heraldHeaders["herald-reason"] == "rejected")
        }
    }

    @Test("A retry is too large for its topic: it becomes a dead letter that says oversized, with its bytes")
    func retry() async throws {
        var plan = World.Plan()
        plan.topicConfigurations = ["notifications.retry.1s": ["max.message.bytes": "2000"]]
        plan.misbehaviour = [.status(503) { $0.user = "large" }]
        try await World.run(plan) { world in
            _ = try await world.startWorker()
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 3_000))
            try await world.publish([large] + Batch.events(0..<50))
            try await world.waitForResults(51)
            try await world.waitUntilAllIsCommitted()
            let oracle = try await Oracle(world)
            oracle.expectResults(
                Batch.delivered(0..<50).merging(["large": ["apns": "dead-lettered oversized 503 attempts 1"]]) { $1 })
            oracle.expectCalls { _ in 1 }
            #expect(world.deadLetters.map(\.value) == [large.value])
            #expect(world.deadLetters.first?.heraldHeaders["herald-reason"] == "oversized")
        }
    }

    @Test("Diagnostics give way when a dead letter would be too large for its topic with them")
    func trimmed() async throws {
        var plan = World.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "2000"]]
        // Six entries of history are as long as the rest of the headers.
        plan.settings = ["retry.immediate": "4", "retry.delays": "[1s]"]
        plan.misbehaviour = [.status(503) { $0.user = "large" }]
        try await World.run(plan) { world in
            _ = try await world.startWorker()
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 1_200))
            try await world.publish([large])
            try await world.waitForResults(1)
            try await world.catchUp()
            let letter = try #require(world.deadLetters.first)
            #expect(letter.value == large.value)
            #expect(letter.heraldHeaders["herald-reason"] == "attempts-exhausted")
            #expect(letter.heraldHeaders["herald-history"] == nil && letter.heraldHeaders["herald-detail"] == nil)
        }
    }
}
