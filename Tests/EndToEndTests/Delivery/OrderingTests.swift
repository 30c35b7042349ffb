import HeraldSandbox
import TestSupport
import Testing

@Suite("Ordered sending", .realKafka("Ordered sending"))
struct OrderingTests {
    @Test("With delivery.ordering partition, a call under way holds back its partition, and no other")
    func partition() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.ordering": "partition", "backend.timeout": "5m"]
        plan.misbehaviour = [.hold { $0.user = "slow" }]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let users = ["slow", "neighbour", "elsewhere"]
            try await fixture.publish(
                users.map { user in
                    var event = Publication(id: user, user: user)
                    event.partition = user == "elsewhere" ? 1 : 0
                    return event
                })
            try await fixture.wait("the slow one is called") { fixture.backend.heldCount == 1 }
            try await fixture.waitForResults(1)
            #expect(try fixture.results.map(\.id) == ["elsewhere"])
            #expect(fixture.backend.calls.count == 2)
            fixture.backend.release(1)
            try await fixture.waitForResults(3)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            let order = oracle.calls.compactMap(\.user).filter { $0 != "elsewhere" }
            #expect(order == ["slow", "neighbour"])
        }
    }
}
