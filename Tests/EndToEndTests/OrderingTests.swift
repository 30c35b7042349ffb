import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("What is sent in order", .realKafka("What is sent in order"))
struct OrderingTests {
    @Test(
        "A slow event holds back its user, its partition, or nobody, as delivery.ordering says",
        arguments: [
            ("key", held: ["same"]), ("partition", held: ["same", "neighbour"]), ("none", held: []),
        ] as [(String, held: Set<String>)])
    func ordering(setting: String, held: Set<String>) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.ordering": setting]
        plan.misbehaviour = [.latency(milliseconds: 4_000...4_000) { $0.pns = "gcm" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            var events = [
                Publication(id: "slow", user: "slow", pns: ["gcm"]), Publication(id: "same", user: "slow"),
                Publication(id: "neighbour", user: "neighbour"), Publication(id: "elsewhere", user: "elsewhere"),
            ]
            for index in events.indices { events[index].partition = 0 }
            events[3].partition = 1
            try await fixture.publish(events)
            try await fixture.waitForResults(4)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            let slow = try #require(oracle.calls.first { $0.notification == "slow:gcm" })
            for id in ["same", "neighbour", "elsewhere"] {
                let call = try #require(oracle.calls.first { $0.notification == "\(id):apns" })
                let wait = call.receivedAt.milliseconds(since: slow.receivedAt)
                #expect((wait >= 4_000) == held.contains(id), "\(id) was called after \(wait) ms")
            }
        }
    }

    @Test("With order by partition, quick retries included, each event ends before the next is called")
    func partition() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.ordering": "partition", "retry.immediate": "2"]
        plan.misbehaviour = [.status(503) { ($0.user, $0.callsPerKey) = ("*5", 2) }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish((0..<60).map { Publication(id: "e\($0)", user: "user-\($0)") })
            try await fixture.waitForResults(60)
            let oracle = try await Oracle(fixture)
            let order = oracle.calls.compactMap { call in
                oracle.requests.first { $0.keyText == call.user }
            }
            for partition in Dictionary(grouping: order, by: \.partition).values {
                #expect(zip(partition, partition.dropFirst()).allSatisfy { $0.offset <= $1.offset })
            }
            #expect(order.count == 72)
        }
    }
}
