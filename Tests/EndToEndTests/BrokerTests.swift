import HeraldSandbox
import TestSupport
import Testing

@Suite("A broker that is away", .ownKafka("A broker that is away"), .timeLimit(.minutes(4)))
struct BrokerTests {
    @Test("A worker waits for a broker that is down at the start, and goes on after one that dies, and loses nothing")
    func brokerDown() async throws {
        let kafka = try await RealKafka.start(nodes: 1)
        defer { kafka.stop() }
        var plan = World.Plan()
        plan.kafka = kafka
        plan.settings = ["delivery.maxInFlight": "20"]
        plan.misbehaviour = [.latency(milliseconds: 20...20)]
        try await World.run(plan) { world in
            let events = (0..<600).map { Publication(id: "e\($0)", user: "user-\($0)") }
            try await world.publish(Array(events.prefix(10)))
            kafka.kill(node: 1)
            let worker = try world.spawnWorker()
            try await worker.waitForLog("no broker answers yet")
            try await kafka.revive(node: 1)
            try await world.waitForResults(10, within: 120)
            #expect(worker.isRunning)

            try await world.publish(Array(events.dropFirst(10)))
            try await world.waitForResults(60)
            kafka.kill(node: 1)
            try await kafka.revive(node: 1)
            try await world.waitForResults(600, within: 120)
            try await world.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(world)
            oracle.expectResults(
                Dictionary(
                    uniqueKeysWithValues: events.indices.map { ("e\($0)", ["apns": "delivered 200 attempts 1"]) }),
                repeats: true)
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await world.committed())
        }
    }
}
