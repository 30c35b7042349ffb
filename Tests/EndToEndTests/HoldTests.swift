import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Refused credentials", .realKafka("Refused credentials"))
struct HoldTests {
    @Test("When every call is refused the worker holds, loses no event and no attempt, and goes on by itself")
    func hold() async throws {
        var plan = World.Plan()
        plan.misbehaviour = [.status(403)]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            try await world.publish(Batch.events(0..<200))
            let began = try await worker.waitForLog("holding")
            #expect(began.level == "error")
            let called = world.backend.calls.count
            try await world.wait("a probe was made") { world.backend.calls.count > called }
            try await world.catchUp()
            #expect(world.count("notifications.results") + world.deadLetters.count + world.retries.count == 0)
            #expect(try await world.committed().values.allSatisfy { $0 == 0 })

            world.backend.misbehave([])
            try await worker.waitForLog("going on")
            try await world.waitForResults(200)
            try await world.waitUntilAllIsCommitted()
            let oracle = try await Oracle(world)
            oracle.expectResults(Batch.delivered(0..<200))
            #expect(world.deadLetters.isEmpty && oracle.retries.isEmpty)
            #expect(worker.logLines.count { $0.message.contains("holding") } == 1)
        }
    }

    @Test("A password file that is mended while the worker holds is read again, and everything is delivered")
    func passwordFile() async throws {
        try await World.run { world in
            let file = world.directory.appending(path: "password")
            try "wrong\n".write(to: file, atomically: true, encoding: .utf8)
            let worker = try await world.startWorker(
                changing: ["backend.auth.passwordFile": file.path], removing: ["backend.auth.password"])
            try await world.publish(Batch.events(0..<50))
            try await worker.waitForLog("holding")
            try "herald\n".write(to: file, atomically: true, encoding: .utf8)
            try await world.waitForResults(50)
            try await Oracle(world).expectResults(Batch.delivered(0..<50))
            #expect(world.deadLetters.isEmpty && world.retries.isEmpty)
            #expect(!worker.output.contains("wrong"))
        }
    }

    @Test("One user that is always refused while others are delivered is rejected, and nobody else suffers")
    func oneUser() async throws {
        var plan = World.Plan()
        plan.misbehaviour = [.status(403) { $0.user = "user-13" }]
        try await World.run(plan) { world in
            _ = try await world.startWorker()
            try await world.publish(Batch.events(0..<50))
            try await world.waitForResults(49)
            // Whether it is the user or the password shows only in calls after its own.
            try await world.publish(Batch.events(50..<60))
            try await world.waitForResults(60)
            let oracle = try await Oracle(world)
            var expected = Batch.delivered(0..<60)
            expected["e13"] = ["apns": "dead-lettered rejected 403"]
            oracle.expectResults(expected)
            #expect(world.deadLetters.map { $0.heraldHeaders["herald-status"] } == ["403"])
            #expect(oracle.retries.isEmpty)
        }
    }
}

@Suite("A backend that fails, and settings that are wrong", .realKafka("Breaker and fuse"))
struct BreakerAndFuseTests {
    @Test("A wrong path makes no more dead letters than the fuse allows; what comes after waits and is delivered")
    func wrongPath() async throws {
        var plan = World.Plan()
        plan.misbehaviour = [.status(404)]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            try await world.publish(Batch.events(0..<600))
            let began = try await worker.waitForLog("holding")
            #expect(began.level == "error" && began.message.contains("backend.path"))
            let called = world.backend.calls.count
            try await world.wait("a probe was made") { world.backend.calls.count > called }

            world.backend.misbehave([])
            try await worker.waitForLog("going on")
            try await world.waitForResults(600)
            try await world.waitUntilAllIsCommitted()
            let results = try world.results
            let dead = world.deadLetters.count
            #expect(dead > 0 && dead <= 200)
            #expect(results.count { $0.outcome == "delivered" && $0.attempts == 1 } == 600 - dead)
            #expect(world.retries.isEmpty)
        }
    }

    @Test("When most calls fail the worker holds and probes; nothing is a dead letter, and it goes on by itself")
    func breaker() async throws {
        var plan = World.Plan()
        plan.misbehaviour = [.status(503)]
        try await World.run(plan) { world in
            let worker = try await world.startWorker()
            try await world.publish(Batch.events(0..<2_000))
            try await worker.waitForLog("holding")
            let called = world.backend.calls.count
            try await world.wait("a probe was made") { world.backend.calls.count > called }
            #expect(called < 2_000, "not every event is tried against a backend that is down")
            world.backend.misbehave([])
            try await worker.waitForLog("going on")
            try await world.waitForResults(2_000)
            try await world.waitUntilAllIsCommitted()
            try await Oracle(world).expectResults(Batch.delivered(0..<2_000, attempts: nil))
            #expect(world.deadLetters.isEmpty)
        }
    }
}
