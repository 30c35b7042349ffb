import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Workers with stand-ins", .realKafka("Zombies and rivals"), .hangLimit)
struct ZombieTests {
    @Test("A worker stopped past its session and its transaction's time continues, and records nothing twice")
    func zombie() async throws {
        var plan = Fixture.Plan()
        // Both end by themselves while it is stopped.
        plan.settings = [
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#,
            "backend.timeout": "120s",
        ]
        plan.misbehaviour = [.hold { $0.user = "held-*" }]
        try await Fixture.run(plan) { fixture in
            let zombie = try await fixture.startWorker(changing: CrashTests.noCommit)
            let held = (40..<48).map { Publication(id: "e\($0)", user: "held-\($0)") }
            try await fixture.publish(Batch.events(0..<40) + held)
            try await fixture.wait("all are called") { fixture.backend.calls.count == 48 }
            try await CrashTests.waitForOpenResults(40, in: fixture)
            zombie.pause()
            // The zombie finds these answers when it wakes up.
            fixture.backend.misbehave([])
            // The other gets the partitions after the session, and readers its results after the transaction.
            let other = try await fixture.startWorker()
            try await fixture.waitForResults(48)
            zombie.resume()
            try await zombie.waitForLog("partitions lost")
            try await zombie.waitForLog("the producer is recreated")
            try await zombie.waitForLog("partitions assigned", count: 2)
            try await fixture.publish(Batch.events(48..<128))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 2 * 48 + 80 }
            #expect(zombie.isRunning, "it went on by itself")
            for worker in [zombie, other] {
                worker.terminate()
                #expect(try await worker.waitForExit() == 0)
            }
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<128))
            let first = Set((0..<48).map { "e\($0):apns" })
            oracle.expectCalls { first.contains($0) ? 2 : 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("Of two workers with one kafka.instance, the first ends with 1 and the reason; none records twice")
    func sameInstance() async throws {
        var plan = Fixture.Plan()
        plan.settings = Held.settings.merging(["kafka.instance": "pod-0"]) { $1 }
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
            fixture.backend.release(5)
            try await fixture.waitForResults(5)
            let second = try fixture.spawnWorker()
            // By then the second one has the name.
            try await first.waitForLog("partitions revoked")
            // It shows when the first writes the outcomes of its calls.
            fixture.backend.misbehave([])
            #expect(try await first.waitForExit() == 1)
            #expect(first.logLines.last { $0.level == "error" }?.message.contains("kafka.instance") == true)
            try await fixture.waitForResults(100)
            try await fixture.waitUntilAllIsCommitted()
            #expect(second.isRunning)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<100))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test(
        "A transaction may be open for its whole commit interval: no worker is fenced meanwhile",
        .long("it waits for fifteen seconds, which is what it is about"))
    func longCommitInterval() async throws {
        var plan = Fixture.Plan()
        // With so few calls the first outcome opens it.
        plan.settings = ["delivery.commitInterval": "15s", "delivery.maxInFlight": "15"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            #expect(!worker.output.contains("the producer is recreated"))
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<20))
            oracle.expectCalls { _ in 1 }
        }
    }
}
