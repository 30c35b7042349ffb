import HeraldSandbox
import TestSupport
import Testing

/// The address of the settings stays, and all brokers behind it move: pods that come back with other addresses.
@Suite("Brokers that move", .ownKafka("Brokers that move"), .hangLimit)
struct MovedBrokerTests {
    private struct Verdict: Decodable { var key: String }

    @Test("Worker and console find them, and calls made meanwhile are recorded: no user is called again")
    func moved() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .moving
        plan.settings = Held.settings.merging(
            ["admin.listen": "127.0.0.1:\(try #require(FreePorts.take(1).first))"]) { $1 }
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(changing: fixture.behindProxy)
            let console = try await ConsoleClient(fixture, changing: fixture.behindProxy)
            func delivers() async throws {
                let isSo = try await eventually(within: 2 * Patience.seconds) {
                    let verdict: Verdict = try await console.look("/api/verdict")
                    return verdict.key == "delivering"
                }
                #expect(isSo, "\(console.process.tail)")
            }
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(10)
            try await delivers()

            fixture.backend.misbehave([.hold()])
            try await fixture.publish(Batch.events(10..<30))
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
            fixture.kafka.kill(node: 1)
            fixture.backend.misbehave([])
            try await fixture.kafka.revive(elsewhere: 1)
            try await fixture.publish(Batch.events(30..<40))
            try await fixture.waitForResults(40)
            try await fixture.waitUntilAllIsCommitted()
            try await worker.waitForLog("brokers have moved")
            try await worker.waitUntilReady()
            try await delivers()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<40))
            oracle.expectCalls { _ in 1 }
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
        }
    }
}
