import HeraldSandbox
import TestSupport
import Testing

@Suite("Many events, and workers that end", .realKafka("Many events, and workers that end"), .hangLimit)
struct ManyEventsTests {
    /// Users with their events in turns; some users are always rejected, some fail twice and are then delivered.
    private static func events(users: Int, each: Int) -> (
        publications: [Publication], expected: [String: [String: String]]
    ) {
        var publications: [Publication] = []
        var expected: [String: [String: String]] = [:]
        for number in 0..<each {
            for index in 0..<users {
                let (user, result) =
                    switch index % 20 {
                    case 0: ("rejected-\(index)", "dead-lettered rejected 400 attempts 1")
                    case 1: ("flaky-\(index)", "delivered 200 attempts 3")
                    default: ("user-\(index)", "delivered 200 attempts 1")
                    }
                let id = "\(user)_\(number)"
                publications.append(Publication(id: id, user: user, message: "Event \(number)"))
                expected[id] = ["apns": result]
            }
        }
        return (publications, expected)
    }

    private static let misbehaviour: [Misbehaviour] = [
        .latency(milliseconds: 5...40), .status(400) { $0.user = "rejected-*" },
        .status(503) { ($0.user, $0.callsPerKey) = ("flaky-*", 2) },
    ]

    private static func calls(_ key: String) -> Int { key.hasPrefix("flaky-") ? 3 : 1 }

    @Test("10 000 events, two workers, one stopped half way: every outcome as expected, in order, no call repeated")
    func gracefulStop() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = ["retry.immediate": "2", "delivery.maxInFlight": "200"]
        plan.misbehaviour = Self.misbehaviour
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = Self.events(users: 1_000, each: 10)
            let first = try await fixture.startWorker()
            let second = try await fixture.startWorker(changing: ["delivery.lanes": "2"])
            try await second.waitForLog("partitions assigned", count: 2)
            try await fixture.publish(publications)
            try await fixture.waitForResults(publications.count / 2)
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            #expect(fixture.count("notifications.results") < publications.count, "it was not half way")
            try await fixture.waitForResults(publications.count, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            second.terminate()
            #expect(try await second.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            oracle.expectResults(expected)
            oracle.expectCalls(Self.calls)
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
            #expect(fixture.deadLetters.count == 500)
        }
    }

    @Test("Workers that come and go while 6 000 events and their retries flow: no call repeated, one result each")
    func comingAndGoing() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        // The flaky users' third call comes through a delay topic.
        plan.settings = [
            "retry.immediate": "1", "retry.delays": "[500ms, 1s]", "delivery.maxInFlight": "50",
            "delivery.lanes": "2",
        ]
        plan.misbehaviour = Self.misbehaviour
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = Self.events(users: 600, each: 10)
            var worker = try await fixture.startWorker()
            for round in 0..<4 {
                let part = publications.count / 4
                try await fixture.publish(Array(publications[round * part..<(round + 1) * part]))
                let next = try await fixture.startWorker()
                worker.terminate()
                #expect(try await worker.waitForExit() == 0)
                worker = next
            }
            try await fixture.waitForResults(publications.count, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            oracle.expectResults(expected)
            oracle.expectCalls(Self.calls)
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test(
        "kill -9 in the middle of 5 000 events loses nothing, repeats only what was in flight or not committed, and in transactions records nothing twice",
        arguments: ["atomic", "at-least-once"])
    func crash(guarantee: String) async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = [
            "retry.immediate": "2", "delivery.maxInFlight": "100", "delivery.guarantee": guarantee,
            // Readers wait as long for what the killed worker left open as its partitions wait for a new owner.
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#,
        ]
        plan.misbehaviour = Self.misbehaviour
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = Self.events(users: 500, each: 10)
            let first = try await fixture.startWorker()
            try await fixture.publish(publications)
            try await fixture.waitForResults(1_500)
            let settled = Set(try fixture.results.compactMap(\.id))
            try await fixture.waitForCommits(of: "notifications")
            first.kill()
            let callsBefore = fixture.backend.calls.count
            let committed = try await fixture.committed()
            let crashed = try await Oracle(fixture)
            #expect(crashed.results.count < publications.count, "it was not in the middle")
            crashed.expectNothingPassed(committed)

            let second = try await fixture.startWorker()
            // Without transactions some results are there twice: their number says nothing.
            try await fixture.waitUntilAllIsCommitted()
            second.terminate()
            #expect(try await second.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            // Calls before the crash that nobody has recorded are missing from the attempts.
            oracle.expectResults(
                expected.mapValues { services in
                    services.mapValues { $0.replacing(" attempts 3", with: "") }
                }, repeats: guarantee != "atomic")
            oracle.expectCalls(exactly: false) { Self.calls($0) * 2 }
            oracle.expectNothingPassed(try await fixture.committed())
            let after = Set(oracle.calls.dropFirst(callsBefore).compactMap(\.notification))
            let repeated = settled.filter { after.contains("\($0):apns") }
            #expect(repeated.isEmpty, "what was settled before the last commits is not called again")
        }
    }
}
