import HeraldKafka
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Events that come twice", .realKafka("Events that come twice"))
struct DuplicateTests {
    private static let delivered = "delivered 200 attempts 1"
    private static let duplicate = "duplicate attempts 0"

    /// The summaries of the results of the requests with this id, in the order of the requests.
    private static func summaries(_ oracle: Oracle, _ id: String) -> [[String]] {
        let requests = oracle.requests.filter { $0.json?["id"] as? String == id }.sorted { $0.offset < $1.offset }
        return requests.map { request in oracle.results.filter { $0.origin == request.place }.map(\.summary) }
    }

    @Test("Repeated events are called once, even after kill -9 and a restart, except those that failed")
    func twice() async throws {
        var plan = Fixture.Plan()
        plan.settings = CrashTests.named
        plan.misbehaviour = [.status(400) { $0.user = "user-0" }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20) + Batch.events(10..<20))
            try await fixture.waitForResults(30)
            try await fixture.waitUntilAllIsCommitted()
            first.kill()
            fixture.backend.misbehave([])
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<25))
            try await fixture.waitForResults(55)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { $0 == "e0:apns" ? 2 : 1 }
            let failed = "dead-lettered rejected 400 attempts 1"
            #expect(Self.summaries(oracle, "e0") == [[failed], [Self.delivered]])
            for number in 1..<25 {
                let repeats = number < 10 ? 1 : number < 20 ? 2 : 0
                let expected = [[Self.delivered]] + Array(repeating: [Self.duplicate], count: repeats)
                #expect(Self.summaries(oracle, "e\(number)") == expected)
            }
        }
    }

    @Test(
        "An event that waits for its retry is called after kill -9, its copy before or after it")
    func firstWaits() async throws {
        var plan = Fixture.Plan()
        plan.settings = CrashTests.named.merging(["retry.delays": "[10s]"]) { $1 }
        plan.misbehaviour = [.status(503) { $0.callsPerKey = 1 }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<6))
            try await fixture.wait("they wait") { fixture.count("notifications.retry.10s") == 6 }
            try await fixture.publish(Batch.events(0..<3))
            try await fixture.wait("the copies wait behind them") { fixture.count("notifications.retry.10s") == 9 }
            first.kill()
            try await fixture.publish(Batch.events(3..<6))
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(12)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 2 }
            for number in 0..<6 {
                #expect(
                    Self.summaries(oracle, "e\(number)") == [["delivered 200 attempts 2"], [Self.duplicate]],
                    "\(number)")
            }
        }
    }

    @Test("A failed event that comes again is called although no dead letter can be read; later all is normal")
    func unreadable() async throws {
        var plan = Fixture.Plan()
        plan.settings = CrashTests.named
        plan.misbehaviour = [.status(400) { $0.user = "user-0" }]
        try await Fixture.run(plan) { fixture in
            // Records behind an open transaction are not read before its end.
            let stranger = try await Self.openTransaction(fixture, on: "notifications.dead-letter")
            defer { stranger.close() }
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<4))
            try await fixture.waitForResults(4)
            try await fixture.waitUntilAllIsCommitted()
            first.kill()
            fixture.backend.misbehave([])
            let second = try await fixture.startWorker()
            _ = try await second.waitForLog("is called again if it comes again")
            try await fixture.publish(Batch.events(0..<4))
            try await fixture.waitForResults(8)
            try await fixture.waitUntilAllIsCommitted()
            second.kill()
            try await Blocking.run { try stranger.abortTransaction(timeout: Patience.timeout) }
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<4))
            try await fixture.waitForResults(12)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 2 }
            for number in 0..<4 {
                let before = number == 0 ? "dead-lettered rejected 400 attempts 1" : Self.delivered
                #expect(Self.summaries(oracle, "e\(number)") == [[before], [Self.delivered], [Self.duplicate]])
            }
        }
    }

    /// A transaction with a record in each partition of a topic.
    private static func openTransaction(_ fixture: Fixture, on shortName: String) async throws -> Producer {
        try await Blocking.run {
            let producer = try Producer(properties: [
                ("bootstrap.servers", fixture.bootstrapServers), ("transactional.id", "\(fixture.name)-stranger"),
            ])
            try producer.initTransactions(timeout: Patience.timeout)
            try producer.beginTransaction()
            for partition in 0..<fixture.plan.partitions {
                var record = Publication(user: "nobody", text: "never committed")
                record.partition = Int32(partition)
                try producer.publish(record, to: producer.topic(fixture.topic(shortName)))
            }
            try producer.flush(timeout: .minutes(1)) { _, _ in }
            return producer
        }
    }
}
