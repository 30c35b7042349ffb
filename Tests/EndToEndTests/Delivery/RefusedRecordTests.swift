import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Records that the brokers refuse", .realKafka("Records that the brokers refuse"), .hangLimit)
struct RefusedRecordTests {
    @Test("The result topic is deleted under a worker: no commit, an alarm, and it continues when it is back")
    func deletedResultTopic() async throws {
        var plan = Fixture.Plan()
        // Records for a missing topic are given up in a transaction's time, here the default.
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

    @Test("A dead letter too large for its topic is kept without its value, and says so")
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

    @Test("A dead letter too large in any form raises an alarm, and is written once the limit is raised")
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

    @Test(
        "A retry too large for its topic goes by another one; if none has room, its dead letter says so",
        arguments: [["1s"], ["1s", "2s"]])
    func retry(narrow: [String]) async throws {
        var plan = Fixture.Plan()
        for delay in narrow { plan.topicConfigurations["notifications.retry.\(delay)"] = ["max.message.bytes": "2000"] }
        let hasRoom = narrow.count == 1
        plan.misbehaviour = [.status(503) { $0.user = "large" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let large = Publication(id: "large", user: "large", message: String(repeating: "x", count: 3_000))
            try await fixture.publish([large] + Batch.events(0..<50))
            try await fixture.waitForResults(51)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(
                Batch.delivered(0..<50).merging([
                    "large": [
                        "apns": hasRoom
                            ? "dead-lettered attempts-exhausted 503 attempts 3"
                            : "dead-lettered oversized 503 attempts 1"
                    ]
                ]) { $1 })
            oracle.expectCalls { $0.hasPrefix("large") && hasRoom ? 3 : 1 }
            #expect(fixture.deadLetters.map(\.value) == [large.value])
            let headers = fixture.deadLetters.first?.heraldHeaders ?? [:]
            #expect(headers["herald-reason"] == (hasRoom ? "attempts-exhausted" : "oversized"))
            #expect(headers["herald-detail"]?.contains("no delay's topic has room") == !hasRoom, "\(headers)")
        }
    }

    /// Users whose names begin with bad fail, and the others do not.
    private static var failingBeside: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.settings = ["retry.immediate": "0"]
        plan.misbehaviour = [.status(503) { $0.user = "bad*" }]
        return plan
    }

    /// Publishes an event of each of them, ten by ten; the well ones are called although the others' retries find no way.
    private static func publishBeside(_ fixture: Fixture) async throws {
        let bad = (0..<200).map { Publication(id: "bad-\($0)", user: "bad-\($0)") }
        for round in 0..<20 {
            try await fixture.publish(Array(bad[10 * round..<10 * round + 10]))
            try await fixture.publish(Batch.events(10 * round..<10 * round + 10))
            // Calls stopped for half a minute, or until the topic was there again.
            try await fixture.wait("the well ones are called", within: 10) {
                fixture.backend.calls.count { $0.user?.hasPrefix("bad") == false } == 10 * round + 10
            }
        }
    }

    /// Every event has its one result, and no call was repeated.
    private static func expectEnd(_ fixture: Fixture) async throws {
        try await fixture.waitForResults(400, within: 120)
        try await fixture.waitUntilAllIsCommitted()
        let oracle = try await Oracle(fixture)
        let dead = ["apns": "dead-lettered attempts-exhausted 503 attempts 3"]
        oracle.expectResults(Batch.delivered(0..<200).merging((0..<200).map { ("bad-\($0)", dead) }) { $1 })
        oracle.expectCalls { $0.hasPrefix("bad") ? 3 : 1 }
    }

    @Test("A delay topic that takes no batch stops no calls: retries go by way of another one")
    func refusingDelay() async throws {
        try await Fixture.run(Self.failingBeside) { fixture in
            let worker = try await fixture.startWorker()
            // As an operator's mistake, which the worker did not know at its start.
            try await fixture.configure("notifications.retry.1s", ["max.message.bytes": "900"])
            try await Self.publishBeside(fixture)
            let page = try await worker.page("/readyz").text
            let topic = fixture.topic("notifications.retry.1s")
            #expect(page.contains(#""ready": true"#) && page.contains("record-refused"), "\(page)")
            #expect(page.contains("because \(topic) does not take them (MSG_SIZE_TOO_LARGE"), "\(page)")
            #expect(page.contains("gone by way of \(fixture.topic("notifications.retry.2s"))"), "\(page)")
            #expect(!worker.logLines.contains { $0.message.contains("does not accept records") })
            #expect(try await worker.metrics()["herald_transaction_aborts_total"] ?? 0 < 30)

            try await fixture.configure("notifications.retry.1s", ["max.message.bytes": "1048588"])
            try await Self.expectEnd(fixture)
        }
    }

    @Test("A delay topic that is deleted stops no calls: retries go by way of another one")
    func deletedDelay() async throws {
        try await Fixture.run(Self.failingBeside) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.deleteTopic("notifications.retry.1s")
            try await Self.publishBeside(fixture)
            try await fixture.waitForResults(200, within: 20)
            let topic = fixture.topic("notifications.retry.1s")
            var page = ""
            try await fixture.wait("it says so", until: { page.contains("topics-missing") }) {
                page = try await worker.page("/readyz").text
            }
            #expect(page.contains(#""ready": true"#) && page.contains("The topic \(topic) is missing"), "\(page)")
            #expect(page.contains("calls go on"), "\(page)")
            #expect(page.contains("by way of \(fixture.topic("notifications.retry.2s"))"), "\(page)")
            let alarm = try await worker.waitForLog("refuses records (it is missing")
            #expect(alarm.message.contains(topic) && alarm.message.contains("herald topics apply"))
            #expect(!worker.logLines.contains { $0.message.contains("does not accept records") })
            #expect(try await worker.metrics()["herald_transaction_aborts_total"] ?? 0 < 30)

            try await fixture.makeTopic("notifications.retry.1s")
            try await Self.expectEnd(fixture)
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

    /// An event without a key.
    private static func keyless(_ id: String) -> Publication {
        var event = Publication(id: id, user: id)
        event.key = nil
        return event
    }

    @Test(
        "With a compacted results topic, keyless events are recorded after its repair, others at once",
        arguments: ["atomic", "at-least-once"])
    func keyless(guarantee: String) async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.results": ["cleanup.policy": "compact"]]
        plan.settings = ["delivery.guarantee": guarantee]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(
                Batch.events(0..<20) + [Self.keyless("k1"), Self.keyless("k2")] + Batch.events(20..<38))
            try await fixture.waitForResults(38)
            let alarm = try await worker.waitForLog("does not take a record")
            #expect(alarm.level == "error" && alarm.message.contains("INVALID_RECORD"))
            // Each costs some log n transactions, and as many more at each new attempt.
            #expect(try await worker.metrics()["herald_transaction_aborts_total"] ?? 0 < 30)
            try await fixture.publish(Batch.events(38..<60))
            try await fixture.waitForResults(60)
            try await worker.waitUntilReady()
            if guarantee == "atomic" {
                let page = try await worker.page("/readyz").text
                let words = "\(fixture.topic("notifications.results")) does not take a record of"
                #expect(page.contains("record-refused") && page.contains(words), "\(page)")
            }

            try await fixture.configure("notifications.results", ["cleanup.policy": "delete"])
            try await fixture.waitForResults(62)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            let delivered = ["apns": "delivered 200 attempts 1"]
            oracle.expectResults(Batch.delivered(0..<60).merging(["k1": delivered, "k2": delivered]) { $1 })
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test(
        "A results topic that accepts nothing is logged once, calls wait, and all is recorded after a repair",
        arguments: [
            ("max.message.bytes", "160", "1048588", "max.message.bytes"),
            ("cleanup.policy", "compact", "delete", "herald topics plan"),
        ])
    func everyRecord(setting: String, bad: String, good: String, words: String) async throws {
        var plan = Fixture.Plan()
        plan.topicConfigurations = ["notifications.results": [setting: bad]]
        // A compacted topic accepts no record without a key.
        let events = Batch.events(0..<200).map { event in
            var event = event
            if bad == "compact" { event.key = nil }
            return event
        }
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Array(events[..<100]))
            try await worker.waitUntilNotReady("records-refused", naming: fixture.topic("notifications.results"))
            let alarm = try await worker.waitForLog("refuses nearly all records")
            #expect(alarm.message.contains(words))
            // Some are tried again.
            let aborts = "herald_transaction_aborts_total"
            let first = try await worker.metrics()[aborts] ?? 0
            var latest = first
            try await fixture.wait("two more transactions", until: { latest >= first + 2 }) {
                latest = try await worker.metrics()[aborts] ?? 0
            }
            let calls = fixture.backend.calls.count
            try await fixture.publish(Array(events[100...]))
            try await fixture.wait("two more transactions", until: { latest >= first + 4 }) {
                latest = try await worker.metrics()[aborts] ?? 0
            }
            #expect(fixture.backend.calls.count < calls + 10)
            #expect(worker.logLines.count { $0.level == "error" } < 5)

            try await fixture.configure("notifications.results", [setting: good])
            try await fixture.waitForResults(200)
            try await fixture.waitUntilAllIsCommitted()
            try await worker.waitUntilReady()
            #expect(try await worker.metrics()[aborts] ?? 0 < latest + 15)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200))
            oracle.expectCalls { _ in 1 }
        }
    }
}
