import HeraldSandbox
import TestSupport
import Testing

@Suite("A backend that bears less than there is to send", .realKafka("Load"))
struct LoadTests {
    @Test("Its rate is found by itself: everything is delivered, few calls are refused, and there is no dead letter")
    func capacity() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(429) { $0.perSecond = 500 }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<4_000))
            try await fixture.waitForResults(4_000)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<4_000, attempts: nil))
            #expect(fixture.deadLetters.isEmpty)
            // At the beginning nothing is known: a second's worth is too much. And what was sent while a busy machine
            // let the backend stand still comes to it at once: as much again, where one that does not adapt has
            // several calls refused for each that is taken.
            let calls = fixture.backend.calls.count
            #expect(calls < 4_000 + 2 * 500, "\(calls) calls")
        }
    }

    @Test("An event of the first topic does not stand behind a campaign")
    func priority() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["limits.perSecond": "200"]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            var campaign = Batch.events(0..<4_000)
            for index in campaign.indices { campaign[index].topic = "notifications.bulk" }
            try await fixture.publish(campaign)
            try await fixture.wait("the campaign is under way") { fixture.backend.calls.count > 50 }
            try await fixture.publish(Batch.events(4_000..<4_050))
            let codes = Set((4_000..<4_050).map { "e\($0):apns" })
            func places() -> [Int] {
                let calls = fixture.backend.calls
                return calls.indices.filter { codes.contains(calls[$0].notification ?? "") }
            }
            try await fixture.wait("the codes are sent") { places().count == 50 }
            let first = try #require(places().first)
            let last = try #require(places().last)
            #expect(last - first < 50 + 30, "one in eleven calls between is the campaign's, and what was on its way")
            #expect(fixture.backend.calls.count < 3_000, "most of the campaign waits yet")
        }
    }

    @Test("Retry-After of one event delays that event alone")
    func oneRefusal() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.maxInFlight": "10"]
        plan.misbehaviour = [
            .status(429) {
                $0.pns = "gcm"
                $0.calls = 1
                $0.retryAfter = "4"
            }
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let events = (0..<100).map { Publication(id: "e\($0)", user: "user-\($0)", pns: ["apns", "gcm"]) }
            try await fixture.publish(events)
            try await fixture.waitForResults(200)
            let results = try fixture.results
            #expect(results.allSatisfy { $0.outcome == "delivered" })
            #expect(results.count { $0.attempts == 2 } == 1)
            #expect(fixture.backend.calls.count == 201)
            #expect(fixture.retries.allSatisfy { $0.heraldHeaders["herald-attempts"] == "1" })
        }
    }
}
