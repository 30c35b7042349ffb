import Foundation
import HeraldBytes
import HeraldSandbox
import TestSupport
import Testing

@Suite("Killed workers", .realKafka("Killed workers"), .hangLimit)
struct CrashTests {
    /// A name for the worker, so that no session or transaction has to expire.
    static let named = ["kafka.instance": "pod-0", "kafka.staticMembership": "true"]
    /// So rare that only the test ends a transaction, and with so few calls that the first outcome opens it.
    static let noCommit = ["delivery.commitInterval": "60s", "delivery.maxInFlight": "15"]

    /// Waits until the broker has results of a transaction that is still open.
    static func waitForOpenResults(_ count: Int, in fixture: Fixture) async throws {
        try await fixture.waitUntilWritten(count, to: "notifications.results")
        #expect(fixture.count("notifications.results") == 0, "nothing is committed yet")
    }

    @Test("kill -9 between the answers and the commit: the same keys are called again, each has one result")
    func openTransaction() async throws {
        var plan = Fixture.Plan()
        plan.settings = Self.named
        try await Fixture.run(plan) { try await Self.killInTransaction($0) }
    }

    @Test("kill -9 before the commit of a worker without a name: session and transaction end by themselves")
    func openTransactionWithoutName() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#
        ]
        try await Fixture.run(plan) { try await Self.killInTransaction($0) }
    }

    private static func killInTransaction(_ fixture: Fixture) async throws {
        let first = try await fixture.startWorker(changing: noCommit)
        try await fixture.publish(Batch.events(0..<40))
        try await fixture.wait("all are called") { fixture.backend.calls.count == 40 }
        try await waitForOpenResults(40, in: fixture)
        first.kill()
        _ = try fixture.spawnWorker()
        try await fixture.waitForResults(40)
        try await fixture.waitUntilAllIsCommitted()
        let oracle = try await Oracle(fixture)
        oracle.expectResults(Batch.delivered(0..<40))
        oracle.expectCalls { _ in 2 }
        oracle.expectNothingPassed(try await fixture.committed())
    }

    @Test("kill -9 behind a slow event: committed completions beyond it are not called again")
    func completionsBeyondSlowEvent() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        plan.settings = Self.named.merging(["backend.timeout": "60s"]) { $1 }
        plan.misbehaviour = [.hang { $0.user = "user-0" }, .hang { $0.user = "user-20" }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<50))
            // Results read are committed in a transaction, and the completions with them.
            try await fixture.waitForResults(48)
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 }, "the slow event holds the offset")
            first.kill()
            fixture.backend.misbehave([])
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(50)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<50))
            oracle.expectCalls { ["e0:apns", "e20:apns"].contains($0) ? 2 : 1 }
        }
    }

    /// A worker's end, after some of a round's calls are answered and recorded; the others are in flight.
    private struct End {
        var worker: Int
        var isKill: Bool
        var answered: Int
    }

    /// With none, some and all recorded.
    private static let ends = [
        End(worker: 0, isKill: true, answered: 6), End(worker: 1, isKill: true, answered: 0),
        End(worker: 0, isKill: false, answered: 6), End(worker: 1, isKill: false, answered: 0),
        End(worker: 0, isKill: true, answered: 12), End(worker: 1, isKill: true, answered: 6),
    ]
    /// The size of each round; both workers together may call all at once.
    private static let eventsOfRound = 12

    @Test("Workers killed, stopped, started: only calls in flight are repeated, each event has one result")
    func killsAndStops() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = Held.settings.merging(["kafka.staticMembership": "true"]) { $1 }
        try await Fixture.run(plan) { fixture in
            var workers: [HeraldProcess] = []
            for number in 0..<2 {
                workers.append(try fixture.spawnWorker(changing: ["kafka.instance": "pod-\(number)"]))
            }
            for worker in workers { try await worker.waitForLog("partitions assigned") }
            var inFlightAtKills: Set<String> = []
            for (round, end) in Self.ends.enumerated() {
                let open = try await Self.hold(round, end.answered, in: fixture)
                if end.isKill {
                    workers[end.worker].kill()
                    inFlightAtKills.formUnion(open)
                    fixture.backend.misbehave([])
                } else {
                    workers[end.worker].terminate()
                    try await workers[end.worker].waitForLog("draining")
                    fixture.backend.misbehave([])
                    #expect(try await workers[end.worker].waitForExit() == 0, "round \(round)")
                }
                workers[end.worker] = try await fixture.startWorker(changing: ["kafka.instance": "pod-\(end.worker)"])
                try await fixture.waitForResults((round + 1) * Self.eventsOfRound)
            }
            try await fixture.waitUntilAllIsCommitted()

            let count = Self.ends.count * Self.eventsOfRound
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<count))
            oracle.expectCalls(exactly: false) { inFlightAtKills.contains($0) ? 2 : 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    /// Publishes a round's events, has some calls answered and recorded, and holds the others, which it returns.
    private static func hold(_ round: Int, _ answered: Int, in fixture: Fixture) async throws -> Set<String> {
        fixture.backend.misbehave([.hold()])
        let before = fixture.count("notifications.results")
        var events = Batch.events(round * eventsOfRound..<(round + 1) * eventsOfRound)
        // The same number for each worker.
        for index in events.indices { events[index].partition = Int32(index % 6) }
        try await fixture.publish(events)
        try await fixture.wait("all are called") { fixture.backend.heldCount == eventsOfRound }
        let calls = fixture.backend.calls.suffix(eventsOfRound)
        fixture.backend.release(answered)
        try await fixture.waitForResults(before + answered)
        let recorded = Set(try fixture.results.compactMap { $0.id.map { "\($0):apns" } })
        return Set(calls.compactMap(\.notification)).subtracting(recorded)
    }

    @Test(
        "Workers killed, stopped, started anywhere: only calls in flight are repeated, one result each",
        .long("5 000 events and six kills and stops wherever the workers happen to be"))
    func random() async throws {
        var generator = SplitMix64(seed: 1)
        var plan = Fixture.Plan()
        plan.partitions = 6
        plan.settings = ["delivery.maxInFlight": "50", "kafka.staticMembership": "true"]
        plan.misbehaviour = [.latency(milliseconds: 5...40)]
        try await Fixture.run(plan) { fixture in
            let count = 5_000
            let rounds = 6
            var workers: [HeraldProcess] = []
            for number in 0..<2 {
                workers.append(try fixture.spawnWorker(changing: ["kafka.instance": "pod-\(number)"]))
            }
            for worker in workers { try await worker.waitForLog("partitions assigned") }
            // The recorded events at a kill, and the number of calls once the killed worker was gone.
            var kills: [(recorded: Set<String>, calls: Int)] = []
            for round in 0..<rounds {
                try await fixture.publish(Batch.events(round * count / rounds..<(round + 1) * count / rounds))
                let soFar = fixture.count("notifications.results")
                let goal = min(count, soFar + Int.random(in: 50...600, using: &generator))
                try await fixture.wait("some are delivered") {
                    fixture.count("notifications.results") >= goal
                        || fixture.count("notifications.results") == (round + 1) * count / rounds
                }
                let number = Int.random(in: 0...1, using: &generator)
                if Bool.random(using: &generator) || round == 0 {
                    let recorded = Set(try fixture.results.compactMap(\.id))
                    workers[number].kill()
                    kills.append((recorded, fixture.backend.calls.count))
                } else {
                    // The other one may have delivered it all before this one handles signals.
                    try await workers[number].waitForLog("starting")
                    workers[number].terminate()
                    let status = try await workers[number].waitForExit()
                    #expect(status == 0, "round \(round):\n\(workers[number].tail)")
                }
                workers[number] = try fixture.spawnWorker(changing: ["kafka.instance": "pod-\(number)"])
            }
            try await fixture.waitForResults(count, within: 120)
            try await fixture.waitUntilAllIsCommitted()

            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<count))
            oracle.expectCalls(exactly: false) { _ in 1 + kills.count }
            oracle.expectNothingPassed(try await fixture.committed())
            let keys = oracle.calls.compactMap { $0.notification?.split(separator: ":").first.map { String($0) } }
            for kill in kills {
                let again = kill.recorded.intersection(keys.dropFirst(kill.calls))
                #expect(again.isEmpty, "what was recorded before a kill is called again")
            }
            let repeats = keys.count - Set(keys).count
            let inFlight = kills.map { Set(keys.prefix($0.calls)).subtracting($0.recorded).count }.reduce(0, +)
            print("\(kills.count) kills: \(repeats) calls repeated, at most \(inFlight) were not recorded")
            #expect(repeats <= inFlight)
        }
    }

    @Test("At the drain deadline, settled events are recorded once and hanging ones are called again")
    func drainDeadline() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.drainTimeout": "1s", "backend.timeout": "60s"]
        plan.misbehaviour = [.hang { $0.user = "user-7" }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker(changing: Self.noCommit)
            try await fixture.publish(Batch.events(0..<30))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 30 }
            try await Self.waitForOpenResults(29, in: fixture)
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            try await fixture.waitForResults(29)

            fixture.backend.misbehave([])
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(30)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<30))
            oracle.expectCalls { $0 == "e7:apns" ? 2 : 1 }
        }
    }
}
