import HeraldSandbox
import TestSupport
import Testing

@Suite("A backend that refuses a shard of the users", .realKafka("Shard"))
struct ShardTests {
    /// Refused sooner than others are answered: what comes first looks as if nothing were taken any more.
    ///
    /// No user has a second event.
    @Test(
        "All others are called before any of these is called again", arguments: [(503, 2), (429, 3)])
    func others(status: Int, every: Int) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.delays": "[10s]", "delivery.maxInFlight": "200"]
        plan.misbehaviour = [
            .status(status) { ($0.user, $0.retryAfter) = ("refused-*", "10") }, .latency(milliseconds: 50...60),
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            // How long a delivery takes is known by then.
            try await fixture.publish(Batch.events(0..<200))
            try await fixture.waitForResults(200)
            let events = (200..<800).map { number in
                let isRefused = number * 7_919 % 31 % every == 0
                return Publication(id: "e\(number)", user: (isRefused ? "refused-" : "user-") + "\(number)")
            }
            try await fixture.publish(events)
            try await fixture.wait("somebody is called again") { Self.repetition(in: fixture.backend.calls) != nil }
            let calls = fixture.backend.calls
            let again = try #require(Self.repetition(in: calls))
            let others = Set(calls[..<again].compactMap(\.user).filter { $0.hasPrefix("user-") })
            let count = 200 + events.count { !$0.isRefused }
            #expect(others.count == count, "\(count - others.count) of \(count) wait while others are called again")
        }
    }

    /// Where in the calls somebody is called for the second time.
    private static func repetition(in calls: [RecordedCall]) -> Int? {
        var seen: Set<String> = []
        return calls.firstIndex { !seen.insert($0.user ?? "").inserted }
    }
}

extension Publication {
    fileprivate var isRefused: Bool { key.map { String(decoding: $0, as: UTF8.self).hasPrefix("refused-") } ?? false }
}
