import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Records that the brokers refuse", .realKafka("Records that the brokers refuse"), .hangLimit)
struct RefusedRecordTests {
    @Test("The result topic is deleted under a worker: no commit, an alarm, and it goes on when it is back")
    func deletedResultTopic() async throws {
        var plan = Fixture.Plan()
        // Records for a topic that is gone are given up in a transaction's time, which is the default's.
        plan.settings = ["kafka.properties": #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let committed = try await fixture.committed()
            try await fixture.deleteTopic("notifications.results")
            try await fixture.publish(Batch.events(0..<30))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 30 }
            let alarm = try await worker.waitForLog("the broker does not accept records")
            #expect(alarm.level == "error")
            #expect(try await fixture.committed() == committed)
            #expect(worker.isRunning)

            try await fixture.makeTopic("notifications.results")
            try await fixture.waitForResults(30)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<30))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A dead letter is too large for its topic: it is kept without its value, and says so")
    func withoutValue() async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "2000"]]
        plan.misbehaviour = [.status(400) { $0.user = "large" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            _ = try await worker.waitForLog("run `herald topics apply`")
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 3_000))
            try await fixture.publish([large] + Batch.events(0..<50))
            try await fixture.waitForResults(51)
            try await fixture.waitUntilAllIsCommitted()
            try await fixture.catchUp()
            let letter = try #require(fixture.deadLetters.first)
            #expect(letter.value == nil && letter.key == large.key)
            #expect(letter.heraldHeaders["herald-omitted"] == "history,detail,value")
            #expect(letter.heraldHeaders["herald-reason"] == "rejected")
        }
    }

    @Test("A dead letter is too large whatever is left out: an alarm, and it is there when the limit is raised")
    func dead() async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "300"]]
        plan.misbehaviour = [.status(400) { $0.user = "large" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let text = String(repeating: "x", count: 3_000)
            let large = Publication(id: "large", user: "large", message: text)
            try await fixture.publish([large] + Batch.events(0..<100))
            try await fixture.waitForResults(100)
            let alarm = try await worker.waitForLog("too large for its topic")
            #expect(alarm.level == "error")
            // It is offered again, and meanwhile others get through.
            try await fixture.publish(Batch.events(100..<200))
            try await fixture.waitForResults(200)
            #expect(fixture.deadLetters.isEmpty)

            try await fixture.configure("notifications.dead-letter", ["max.message.bytes": "100000"])
            try await fixture.waitForResults(201, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Batch.delivered(0..<200).merging(["large": ["apns": "dead-lettered rejected 400 attempts 1"]]) { $1 })
            oracle.expectCalls { _ in 1 }
            #expect(fixture.deadLetters.map(\.value) == [large.value])
            #expect(fixture.deadLetters.first?.heraldHeaders["herald-reason"] == "rejected")
        }
    }

    @Test("A retry is too large for its topic: it becomes a dead letter that says oversized, with its bytes")
    func retry() async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.retry.1s": ["max.message.bytes": "2000"]]
        plan.misbehaviour = [.status(503) { $0.user = "large" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 3_000))
            try await fixture.publish([large] + Batch.events(0..<50))
            try await fixture.waitForResults(51)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Batch.delivered(0..<50).merging(["large": ["apns": "dead-lettered oversized 503 attempts 1"]]) { $1 })
            oracle.expectCalls { _ in 1 }
            #expect(fixture.deadLetters.map(\.value) == [large.value])
            #expect(fixture.deadLetters.first?.heraldHeaders["herald-reason"] == "oversized")
        }
    }

    @Test("Diagnostics give way when a dead letter would be too large for its topic with them")
    func trimmed() async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.dead-letter": ["max.message.bytes": "2000"]]
        // Six entries of history are as long as the rest of the headers.
        plan.settings = ["retry.immediate": "4", "retry.delays": "[1s]"]
        plan.misbehaviour = [.status(503) { $0.user = "large" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 1_200))
            try await fixture.publish([large])
            try await fixture.waitForResults(1)
            try await fixture.catchUp()
            let letter = try #require(fixture.deadLetters.first)
            #expect(letter.value == large.value)
            #expect(letter.heraldHeaders["herald-reason"] == "attempts-exhausted")
            #expect(letter.heraldHeaders["herald-history"] == nil && letter.heraldHeaders["herald-detail"] == nil)
        }
    }
}
