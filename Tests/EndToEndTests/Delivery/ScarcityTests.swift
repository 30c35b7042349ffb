import Foundation
import Glibc
import HeraldSandbox
import TestSupport
import Testing

@Suite("Scarce descriptors, and an unread log", .realKafka("Scarcity"))
struct ScarcityTests {
    @Test("With too few file descriptors for its calls a worker still delivers every event")
    func descriptors() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "delivery.maxInFlight": "500", "retry.delays": "[1s, 2s, 3s, 4s, 5s]", "backend.timeout": "120s",
        ]
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(under: ["prlimit", "--nofile=128"])
            try await fixture.publish(Batch.events(0..<300))
            // All descriptors that brokers, files and scrapers leave.
            try await fixture.wait("every connection is in use") { fixture.backend.heldCount == 32 }
            fixture.backend.misbehave([])
            try await fixture.waitForResults(300)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<300, attempts: nil))
        }
    }

    @Test("A stopped reader of the log stops nothing")
    func stoppedLogReader() async throws {
        try await Fixture.run { fixture in
            // A pipe that is held open and not read; full after 64 KiB.
            let pipe = fixture.directory.appending(path: "worker-0.log").path
            #expect(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            try #require(reader >= 0)
            defer { close(reader) }
            let worker = try fixture.spawnWorker(changing: ["log.level": "debug", "backend.timeout": "60s"])
            try await fixture.publish(Batch.events(0..<300))
            try await fixture.waitForResults(300)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<300))
            oracle.expectCalls { _ in 1 }
        }
    }
}
