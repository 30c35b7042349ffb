import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Workers that somebody else stands in for", .realKafka("Zombies and rivals"), .hangLimit)
struct ZombieTests {
    @Test(
        "A worker stopped past its session and its transaction's time is fenced, goes on by itself and records nothing twice"
    )
    func zombie() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#
        ]
        try await Fixture.run(plan) { fixture in
            let zombie = try await fixture.startWorker(changing: CrashTests.noCommit)
            try await fixture.publish(Batch.events(0..<40))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 40 }
            try await CrashTests.waitForOpenResults(40, in: fixture)
            zombie.pause()
            // The other gets the partitions when the session is over, and readers its results when the transaction is.
            let other = try await fixture.startWorker()
            try await fixture.waitForResults(40)
            zombie.resume()
            try await zombie.waitForLog("partitions lost")
            try await zombie.waitForLog("the producer is recreated")
            try await zombie.waitForLog("partitions assigned", count: 2)
            try await fixture.publish(Batch.events(40..<120))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 160 }
            #expect(zombie.isRunning, "it went on by itself")
            for worker in [zombie, other] {
                worker.terminate()
                #expect(try await worker.waitForExit() == 0)
            }
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<120))
            let first = Set((0..<40).map { "e\($0):apns" })
            oracle.expectCalls { first.contains($0) ? 2 : 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("Of two workers with the same kafka.instance the first ends with 1 and says why; nothing is recorded twice")
    func sameInstance() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["kafka.instance": "pod-0", "delivery.maxInFlight": "20"]
        plan.misbehaviour = [.latency(milliseconds: 20...20)]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<500))
            try await fixture.waitForResults(100)
            let second = try await fixture.startWorker()
            // It shows when the first writes the next time.
            try await fixture.publish(Batch.events(500..<1_000))
            #expect(try await first.waitForExit() == 1)
            #expect(first.logLines.last { $0.level == "error" }?.message.contains("kafka.instance") == true)
            try await fixture.waitForResults(1_000)
            try await fixture.waitUntilAllIsCommitted()
            #expect(second.isRunning)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<1_000))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("A transaction may be open for as long as its commit interval wants: nobody is fenced meanwhile")
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
