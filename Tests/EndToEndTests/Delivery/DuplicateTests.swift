import HeraldSandbox
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

    @Test("Events that come twice are called once, also after kill -9 and a restart, but for those that failed")
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
}
