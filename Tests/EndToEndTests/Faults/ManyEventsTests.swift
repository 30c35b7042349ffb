import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Many events, and ending workers", .realKafka("Many events, and ending workers"), .hangLimit)
struct ManyEventsTests {
    private static let partitions = 6

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
                var event = Publication(id: id, user: user, message: "Event \(number)")
                // Equally many users in each, so that no lane is done before the others.
                event.partition = Int32(index % partitions)
                publications.append(event)
                expected[id] = ["apns": result]
            }
        }
        return (publications, expected)
    }

    private static let failures: [Misbehaviour] = [
        .status(400) { $0.user = "rejected-*" }, .status(503) { ($0.user, $0.callsPerKey) = ("flaky-*", 2) },
    ]

    private static func calls(_ key: String) -> Int { key.hasPrefix("flaky-") ? 3 : 1 }

    private static func plan(_ settings: [String: String]) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.partitions = partitions
        plan.settings = Held.settings.merging(settings) { $1 }
        // Most calls are held: a test decides how far the workers get.
        plan.misbehaviour = failures + [.hold { $0.user = "user-*" }]
        return plan
    }

    /// Answers held calls, and their successors, until there are `count` results.
    private static func answer(until count: Int, in fixture: Fixture) async throws {
        try await fixture.wait("\(count) results") {
            fixture.count("notifications.results") >= count
        } meanwhile: {
            fixture.backend.release(.max)
        }
    }

    /// Answers held calls until `count` are answered, including those that are not held; the others stay held.
    private static func answer(calls count: Int, in fixture: Fixture) async throws {
        let backend = fixture.backend
        func missing() -> Int { count - (backend.calls.count - backend.heldCount) }
        try await fixture.wait("\(count) calls are answered") {
            missing() <= 0
        } meanwhile: {
            backend.release(max(0, missing()))
        }
    }

    /// Answers held calls until everything is delivered and committed, and ends the worker.
    private static func finish(_ worker: HeraldProcess, _ count: Int, in fixture: Fixture) async throws {
        try await answer(until: count, in: fixture)
        try await fixture.waitUntilAllIsCommitted()
        worker.terminate()
        #expect(try await worker.waitForExit() == 0)
    }

    @Test("Two workers, one stopped on the way: every outcome as expected, in order, and no call repeated")
    func gracefulStop() async throws {
        // At most what a user may have in memory: events in delay topics may lose their order when partitions move.
        try await Self.stopOnTheWay(users: 60, each: 16, inFlight: Held.inFlight)
    }

    @Test(
        "10 000 events, two workers, one stopped on the way: outcomes as expected, in order, no call repeated",
        .long("10 000 events, and 200 calls in flight"))
    func gracefulStopOfMany() async throws {
        try await Self.stopOnTheWay(users: 1_000, each: 10, inFlight: 200)
    }

    private static func stopOnTheWay(users: Int, each: Int, inFlight: Int) async throws {
        let plan = plan(["retry.immediate": "2", "delivery.maxInFlight": "\(inFlight)"])
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = events(users: users, each: each)
            let first = try await fixture.startWorker()
            // Equally many for each of its lanes.
            let second = try await fixture.startWorker(
                changing: ["delivery.lanes": "2", "delivery.maxInFlight": "\(2 * inFlight)"])
            try await second.waitForLog("partitions assigned", count: 2)
            try await fixture.publish(publications)
            // Less than a lane has: however fast one is, all of them still have calls to make then.
            try await answer(calls: publications.count / 4, in: fixture)
            try await fixture.wait("all three lanes are calling") {
                fixture.backend.heldCount >= 3 * Held.inFlight
            }
            first.terminate()
            try await first.waitForLog("draining")
            try await fixture.wait("it has ended") {
                !first.isRunning
            } meanwhile: {
                fixture.backend.release(.max)
            }
            #expect(try await first.waitForExit() == 0)
            try await finish(second, publications.count, in: fixture)

            let oracle = try await Oracle(fixture)
            oracle.expectResults(expected)
            oracle.expectCalls(calls)
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
            #expect(fixture.deadLetters.count == publications.count / 20)
        }
    }

    @Test("Workers come and go while events and their retries flow: no call repeated, one result each")
    func comingAndGoing() async throws {
        // The flaky users' third call comes through a delay topic.
        let plan = Self.plan([
            "retry.immediate": "1", "retry.delays": "[500ms, 1s]", "delivery.maxInFlight": "\(2 * Held.inFlight)",
            "delivery.lanes": "2",
        ])
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = Self.events(users: 60, each: 20)
            var worker = try await fixture.startWorker()
            try await worker.waitForLog("partitions assigned", count: 2)
            let part = publications.count / 4
            for round in 0..<4 {
                try await fixture.publish(Array(publications[round * part..<(round + 1) * part]))
                try await fixture.wait("both lanes are calling") {
                    fixture.backend.heldCount >= 2 * Held.inFlight
                }
                let next = try await Self.takeOver(worker, in: fixture)
                worker.terminate()
                try await Self.answer(until: (round + 1) * part, in: fixture)
                #expect(try await worker.waitForExit() == 0)
                worker = next
            }
            try await Self.finish(worker, publications.count, in: fixture)

            let oracle = try await Oracle(fixture)
            oracle.expectResults(expected)
            oracle.expectCalls(Self.calls)
            oracle.expectUserOrder()
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    /// Starts another worker, to which this one gives partitions while it is calling.
    private static func takeOver(_ worker: HeraldProcess, in fixture: Fixture) async throws -> HeraldProcess {
        let revocations = worker.logLines.count { $0.message == "partitions revoked" }
        let next = try fixture.spawnWorker()
        try await worker.waitForLog("partitions revoked", count: revocations + 1)
        try await fixture.wait("the other has partitions") {
            next.logLines.count { $0.message == "partitions assigned" } >= 2
        } meanwhile: {
            fixture.backend.release(.max)
        }
        return next
    }

    @Test(
        "kill -9 among many events loses none and repeats only those in flight or not committed",
        arguments: ["atomic", "at-least-once"])
    func crash(guarantee: String) async throws {
        // With a name, no session or transaction has to expire.
        let plan = Self.plan(
            CrashTests.named.merging(["retry.immediate": "2", "delivery.guarantee": guarantee]) { $1 })
        try await Fixture.run(plan) { fixture in
            let (publications, expected) = Self.events(users: 60, each: 20)
            let first = try await fixture.startWorker()
            let part = publications.count / 4
            try await fixture.publish(Array(publications[..<part]))
            try await Self.answer(until: part, in: fixture)
            let settled = Set(try fixture.results.compactMap(\.id))
            try await Self.commitTwice(Array(publications[part..<2 * part]), after: part, in: fixture)
            try await fixture.publish(Array(publications[(2 * part)...]))
            try await Self.answer(until: 3 * part, in: fixture)
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
            first.kill()
            let callsBefore = fixture.backend.calls.count
            let committed = try await fixture.committed()
            let crashed = try await Oracle(fixture)
            crashed.expectNothingPassed(committed)

            fixture.backend.misbehave(Self.failures)
            let second = try await fixture.startWorker()
            // Without transactions some results are duplicated: their number means nothing.
            try await fixture.waitUntilAllIsCommitted()
            second.terminate()
            #expect(try await second.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            // Unrecorded calls before the crash are missing from the attempts.
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

    /// Delivers these in two parts with events in every partition, and waits for the commits after each: the first may
    /// have been under way already, the second has everything settled before.
    private static func commitTwice(_ publications: [Publication], after count: Int, in fixture: Fixture) async throws {
        let half = publications.count / 2
        for number in 1...2 {
            let before = try await fixture.commits().filter { $0.key.topic == fixture.topic("notifications") }
            try await fixture.publish(Array(publications[(number - 1) * half..<number * half]))
            try await answer(until: count + number * half, in: fixture)
            var now = before
            try await fixture.wait("every partition has another commit") {
                before.allSatisfy { partition, position in now[partition] != position }
            } meanwhile: {
                now = try await fixture.commits()
            }
        }
    }
}
