import HeraldSandbox
import TestSupport
import Testing

@Suite("A backend that is slower than the load", .realKafka("Load"))
struct LoadTests {
    @Test("Its rate is found automatically: everything is delivered, and there is no dead letter")
    func capacity() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(429) { $0.perSecond = 200 }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let rate = #"herald_limit_calls_per_second{pns="apns"}"#
            #expect(try await worker.metrics()[rate] == .infinity)
            try await fixture.publish(Batch.events(0..<1_000))
            var found: Double?
            try await fixture.wait("a rate is found") {
                found.map(\.isFinite) ?? false
            } meanwhile: {
                found = try await worker.metrics()[rate]
            }
            try await fixture.waitForResults(1_000)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<1_000, attempts: nil))
            #expect(fixture.deadLetters.isEmpty)
        }
    }

    @Test("An event of the first topic does not wait behind a campaign")
    func priority() async throws {
        var plan = Fixture.Plan()
        plan.settings = Held.settings
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            var campaign = Batch.events(0..<400)
            for index in campaign.indices { campaign[index].topic = "notifications.bulk" }
            try await fixture.publish(campaign)
            try await fixture.wait("the campaign is under way") { fixture.backend.heldCount == Held.inFlight }
            let codes = (400..<430).map { Publication(id: "code\($0)", user: "user-\($0)") }
            try await fixture.publish(codes)
            var calls = Held.inFlight
            while Self.places(fixture).count < 30 {
                fixture.backend.release(1)
                calls += 1
                try await fixture.wait("the next is called") { fixture.backend.calls.count == calls }
            }
            #expect(calls < Held.inFlight + 400, "the campaign is not over")
            let places = Self.places(fixture)
            let (first, last) = (try #require(places.first), try #require(places.last))
            #expect(last - first < 50, "one in eleven calls between is the campaign's")
            fixture.backend.misbehave([])
            try await fixture.waitForResults(430)
        }
    }

    /// The positions of the codes' calls among all calls.
    private static func places(_ fixture: Fixture) -> [Int] {
        let calls = fixture.backend.calls
        return calls.indices.filter { calls[$0].notification?.hasPrefix("code") == true }
    }
}
