import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Refused credentials", .realKafka("Refused credentials"))
struct OutageTests {
    @Test("When every call is refused the worker holds, loses no event and no attempt, and goes on by itself")
    func outage() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(403)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<200))
            let began = try await worker.waitForLog("outage:")
            #expect(began.level == "error")
            let called = fixture.backend.calls.count
            try await fixture.wait("a probe was made") { fixture.backend.calls.count > called }
            try await fixture.catchUp()
            #expect(fixture.count("notifications.results") + fixture.deadLetters.count + fixture.retries.count == 0)
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 })

            fixture.backend.misbehave([])
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(200)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200))
            #expect(fixture.deadLetters.isEmpty && oracle.retries.isEmpty)
            #expect(worker.logLines.count { $0.message.contains("outage:") } == 1)
        }
    }

    @Test("A password file that is fixed while the worker holds is read again, and everything is delivered")
    func passwordFile() async throws {
        try await Fixture.run { fixture in
            let file = fixture.directory.appending(path: "password")
            try "wrong\n".write(to: file, atomically: true, encoding: .utf8)
            let worker = try await fixture.startWorker(
                changing: ["backend.auth.passwordFile": file.path], removing: ["backend.auth.password"])
            try await fixture.publish(Batch.events(0..<50))
            try await worker.waitForLog("outage:")
            try "herald\n".write(to: file, atomically: true, encoding: .utf8)
            try await fixture.waitForResults(50)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<50))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty)
            #expect(!worker.output.contains("wrong"))
        }
    }

    @Test("One user that is always refused while others are delivered is rejected, and nobody else suffers")
    func oneUser() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(403) { $0.user = "user-13" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<50))
            try await fixture.waitForResults(49)
            // Whether it is the user or the password shows only in calls after its own.
            try await fixture.publish(Batch.events(50..<60))
            try await fixture.waitForResults(60)
            let oracle = try await Oracle(fixture)
            var expected = Batch.delivered(0..<60)
            expected["e13"] = ["apns": "dead-lettered rejected 403"]
            oracle.expectResults(expected)
            #expect(fixture.deadLetters.map { $0.heraldHeaders["herald-status"] } == ["403"])
            #expect(oracle.retries.isEmpty)
        }
    }
}

@Suite("A backend that fails, and settings that are wrong", .realKafka("Breaker and fuse"))
struct BreakerTests {
    @Test(
        "A wrong path makes no more dead letters than the dead-letter breaker allows; what comes after waits and is delivered"
    )
    func wrongPath() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(404)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<600))
            let began = try await worker.waitForLog("outage:")
            #expect(began.level == "error" && began.message.contains("backend.path"))
            let called = fixture.backend.calls.count
            try await fixture.wait("a probe was made") { fixture.backend.calls.count > called }

            fixture.backend.misbehave([])
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(600)
            try await fixture.waitUntilAllIsCommitted()
            let results = try fixture.results
            let dead = fixture.deadLetters.count
            #expect(dead > 0 && dead <= 200)
            #expect(results.count { $0.outcome == "delivered" && $0.attempts == 1 } == 600 - dead)
            #expect(fixture.retries.isEmpty)
        }
    }

    @Test("When most calls fail the worker holds and probes; nothing is a dead letter, and it goes on by itself")
    func breaker() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(503)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<2_000))
            try await worker.waitForLog("outage:")
            let called = fixture.backend.calls.count
            try await fixture.wait("a probe was made") { fixture.backend.calls.count > called }
            #expect(called < 2_000, "not every event is tried against a backend that is down")
            fixture.backend.misbehave([])
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(2_000)
            try await fixture.waitUntilAllIsCommitted()
            try await Oracle(fixture).expectResults(Batch.delivered(0..<2_000, attempts: nil))
            #expect(fixture.deadLetters.isEmpty)
        }
    }
}

@Suite("A part of the users that always fails", .realKafka("Partial failure"))
struct PartialFailureTests {
    private static var plan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    @Test("A fifth of the users gets 503 for ever: one-time codes of others are called at once all the time")
    func failingFifth() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(503) { $0.user = "bad-*" }]
        plan.settings = ["retry.delays": "[1s, 3s]"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(
                (0..<600).map { Publication(id: "e\($0)", user: $0 % 5 == 0 ? "bad-\($0)" : "good-\($0)") })
            var publishedAt: [String: Int64] = [:]
            // Long enough for the last attempts of all, which come together.
            for number in 0..<100 {
                publishedAt["code-\(number)"] = SystemClock.wall().milliseconds
                try await fixture.publish([Publication(id: "c\(number)", user: "code-\(number)")])
                try await Task.sleep(for: .milliseconds(100))
            }
            try await fixture.waitForResults(700)
            let delays = fixture.backend.calls.compactMap { call in
                call.user.flatMap { publishedAt[$0] }.map { call.receivedAt.milliseconds - $0 }
            }
            #expect(delays.count == 100 && delays.allSatisfy { $0 < 2_000 }, "\(delays.max() ?? 0) ms")
            #expect(fixture.deadLetters.count == 120)
            #expect(fixture.deadLetters.allSatisfy { $0.heraldHeaders["herald-reason"] == "attempts-exhausted" })
            #expect(!worker.output.contains("outage:"))
            // Many, and few lines: the first at once, and then one a minute.
            let lines = worker.logLines.filter { $0.message.contains("dead letters") }
            #expect((1...3).contains(lines.count))
        }
    }

    @Test("The doctor, and who publishes, hear from a worker that it holds, and why")
    func told() async throws {
        var plan = Self.plan
        plan.misbehaviour = [.status(404)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let address = "127.0.0.1:\(try await worker.adminPort())"
            try await fixture.publish(Batch.events(0..<400))
            try await worker.waitForLog("outage:")
            let doctor = try fixture.startTool(["doctor", "--only", "kafka", "--workers", address])
            #expect(try await doctor.waitForExit() == 1)
            #expect(doctor.output.contains("✗ worker") && doctor.output.contains("with status 404"))
            let replay = try await fixture.dlq(
                "replay", "--where", "status = 404", "--yes", "--wait", "1s", changing: ["admin.listen": address])
            #expect(replay.output.contains("does not deliver") && replay.output.contains("with status 404"))
        }
    }

    @Test("What is published while no worker runs is said to wait")
    func noWorker() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await fixture.publishDeadLetters(0..<1)
            let replay = try await fixture.dlq("replay", "--where", "status = 503", "--yes", "--wait", "1s")
            #expect(replay.output.contains("No worker runs"))
        }
    }
}
