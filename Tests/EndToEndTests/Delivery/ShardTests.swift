import HeraldSandbox
import TestSupport
import Testing

@Suite("A backend that refuses a shard of the users", .realKafka("Shard"))
struct ShardTests {
    /// Refusals come sooner than other answers, so that at first everything seems to fail.
    ///
    /// No user has a second event, and no refused one is called again: the worker must learn from first calls alone.
    /// The simulation judges how long that may delay others (`Bystanders.refusals`): here, a busy machine decides how
    /// many calls a second succeed, and so how long it takes.
    @Test("All others are called although each of these must wait for an hour", arguments: [(503, 2), (429, 3)])
    func others(status: Int, every: Int) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["retry.delays": "[1h]", "delivery.maxInFlight": "200"]
        plan.misbehaviour = [
            .status(status) { ($0.user, $0.retryAfter) = ("refused-*", "3600") }, .latency(milliseconds: 50...60),
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            // The duration of a delivery is known by then.
            try await fixture.publish(Batch.events(0..<200))
            try await fixture.waitForResults(200)
            let events = (200..<800).map { number in
                let isRefused = number * 7_919 % 31 % every == 0
                return Publication(id: "e\(number)", user: (isRefused ? "refused-" : "user-") + "\(number)")
            }
            try await fixture.publish(events)
            let count = 200 + events.count { !$0.isRefused }
            try await fixture.waitForResults(count)
            let users = fixture.backend.calls.compactMap(\.user)
            #expect(Set(users).count == users.count, "nobody is called twice")
            #expect(users.count { $0.hasPrefix("user-") } == count)
            #expect(fixture.count("notifications.results") == count, "who is refused has no result yet")
        }
    }
}

extension Publication {
    fileprivate var isRefused: Bool { key.map { String(decoding: $0, as: UTF8.self).hasPrefix("refused-") } ?? false }
}
