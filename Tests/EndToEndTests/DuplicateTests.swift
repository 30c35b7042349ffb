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

    @Test("An event that is published twice is called once, and each of the two has its result")
    func twice() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            let events = Batch.events(0..<50)
            try await fixture.publish(events + events)
            try await fixture.waitForResults(100)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            for number in 0..<50 {
                #expect(Self.summaries(oracle, "e\(number)") == [[Self.delivered], [Self.duplicate]])
            }
        }
    }

    @Test("After kill -9 and a restart an event is still known to have come before")
    func afterRestart() async throws {
        var plan = Fixture.Plan()
        plan.settings = CrashTests.named
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<50))
            try await fixture.waitForResults(50)
            first.kill()
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<60))
            try await fixture.waitForResults(110)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            for number in 0..<50 {
                #expect(Self.summaries(oracle, "e\(number)") == [[Self.delivered], [Self.duplicate]])
            }
            for number in 50..<60 { #expect(Self.summaries(oracle, "e\(number)") == [[Self.delivered]]) }
        }
    }

    @Test("After kill -9 and a restart what failed before is no duplicate: it is called again when it comes again")
    func failedBeforeRestart() async throws {
        var plan = Fixture.Plan()
        plan.settings = CrashTests.named
        plan.misbehaviour = [.status(400) { $0.calls = 5 }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<5))
            try await fixture.waitForResults(5)
            try await fixture.publish(Batch.events(5..<10))
            try await fixture.waitForResults(10)
            try await fixture.waitUntilAllIsCommitted()
            first.kill()
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(20)
            let oracle = try await Oracle(fixture)
            for number in 0..<5 {
                #expect(Self.summaries(oracle, "e\(number)").last == [Self.delivered])
            }
            for number in 5..<10 {
                #expect(Self.summaries(oracle, "e\(number)") == [[Self.delivered], [Self.duplicate]])
            }
        }
    }

    @Test(
        "A replay, an event without an id, another user's, another source's and what is published after the window are no duplicates"
    )
    func noDuplicates() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker(changing: ["delivery.dedupe.window": "1s"])
            let event = Publication(id: "same", user: "anna")
            var replay = event
            replay.headers = [
                .init("herald-origin", "\(fixture.topic("notifications"))/0/0"), .init("herald-replays", "1"),
            ]
            let nameless = Publication(user: "anna", text: #"{"user":"anna","pns":"apns","message":"Hello"}"#)
            let others = [
                Publication(id: "same", user: "berta"), Publication(id: "same", user: "anna", more: ["source": "shop"]),
            ]
            try await fixture.publish([event, replay, nameless, nameless] + others)
            try await fixture.waitForResults(6)
            #expect(try fixture.results.map(\.summary) == Array(repeating: Self.delivered, count: 6))
            let first = try #require(fixture.backend.calls.first?.receivedAt)
            // The worker's clock is this machine's: a second after the first call the window is over.
            try await fixture.wait("the window is over") { SystemClock.wall().milliseconds(since: first) > 1_500 }
            try await fixture.publish([event])
            try await fixture.waitForResults(7)
            #expect(try fixture.results.map(\.summary) == Array(repeating: Self.delivered, count: 7))
            let counts = Dictionary(grouping: fixture.backend.calls, by: { $0.user ?? "" }).mapValues(\.count)
            #expect(counts == ["anna": 6, "berta": 1])
        }
    }
}
