import HeraldSandbox
import TestSupport
import Testing

@Suite("A request of one transaction that arrives in the next", .realKafka("Late requests"), .hangLimit)
struct LateRequestTests {
    /// The number of outcomes at which a transaction ends; otherwise it does not end within the test.
    ///
    /// Five times the calls in flight, which the first transaction also has room for.
    private static let crowd = 25

    /// Runs a worker behind the proxy whose first transaction leaves a late request behind.
    private static func behind(
        _ request: KafkaProxy.Request, _ body: (Fixture, HeraldProcess) async throws -> Void
    ) async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.settings = CrashTests.named
        try await Fixture.run(plan) { fixture in
            var settings = CrashTests.noCommit.merging(fixture.behindProxy) { $1 }
            settings["delivery.maxInFlight"] = "5"
            settings["delivery.maxUnrecorded"] = "1m"
            let worker = try await fixture.startWorker(changing: settings)
            try fixture.makeLate(request)
            try await fixture.publish(Batch.events(0..<crowd))
            try await fixture.waitForResults(crowd)
            try await fixture.waitForLate(1)
            try await body(fixture, worker)
        }
    }

    /// Lets another worker do the rest, and compares.
    private static func finish(_ fixture: Fixture, _ count: Int) async throws {
        _ = try await fixture.startWorker()
        try await fixture.waitForResults(count)
        try await fixture.waitUntilAllIsCommitted()
        let oracle = try await Oracle(fixture)
        oracle.expectResults(Batch.delivered(0..<count))
        oracle.expectNothingPassed(try await fixture.committed())
    }

    @Test("The late end of a transaction does not end the next half way: a kill there repeats no result")
    func end() async throws {
        try await Self.behind(.endTransaction) { fixture, worker in
            // The next one has half of its records, and no offsets.
            let before = try await fixture.written("notifications.results")
            let count = Self.crowd + Self.crowd / 2
            try await fixture.publish(Batch.events(Self.crowd..<count))
            try await fixture.waitUntilWritten(before + count - Self.crowd, to: "notifications.results")
            try await fixture.deliverLate()
            worker.kill()
            try await Self.finish(fixture, count)
        }
    }

    @Test("Late offsets of a transaction do not replace those of the next: a kill after it repeats no result")
    func offsets() async throws {
        try await Self.behind(.commitOffsets) { fixture, worker in
            // The next one has its records and its offsets, and no end.
            try fixture.holdTransactions()
            try await fixture.publish(Batch.events(Self.crowd..<2 * Self.crowd))
            try await fixture.holdInTransaction(worker, on: "notifications.results")
            try await fixture.deliverLate()
            try fixture.endTransactions()
            try await fixture.waitForResults(2 * Self.crowd)
            worker.kill()
            try await Self.finish(fixture, 2 * Self.crowd)
        }
    }

    @Test(
        "Fifty late ends and late offsets under ten kills: no event is lost or recorded twice",
        .long("2 000 events, ten workers and fifty late requests, each delivered amid another transaction"))
    func many() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.settings = CrashTests.named
        plan.misbehaviour = [.latency(milliseconds: 1...30)]
        try await Fixture.run(plan) { fixture in
            var published = 0
            func publish(_ count: Int) async throws {
                try await fixture.publish(Batch.events(published..<published + count))
                published += count
            }
            for round in 0..<10 {
                let worker = try await fixture.startWorker(changing: fixture.behindProxy)
                for number in 0..<5 {
                    try fixture.makeLate((round + number).isMultiple(of: 2) ? .endTransaction : .commitOffsets)
                    try await publish(20)
                    try await fixture.waitForLate(1)
                    try await publish(20)
                    try await fixture.deliverLate()
                }
                worker.kill()
            }
            try await Self.finish(fixture, published)
        }
    }
}
