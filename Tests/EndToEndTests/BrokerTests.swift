import HeraldSandbox
import TestSupport
import Testing

@Suite("A broker that is away", .ownKafka("A broker that is away"), .hangLimit)
struct BrokerTests {
    @Test(
        "A worker waits for a broker that is down at the start, goes on after one that dies in the middle of a transaction, and nothing is lost or recorded twice"
    )
    func brokerDown() async throws {
        var plan = Fixture.Plan()
        plan.hasMortalBroker = true
        plan.settings = ["delivery.maxInFlight": "20"]
        plan.misbehaviour = [.latency(milliseconds: 20...20)]
        try await Fixture.run(plan) { fixture in
            let events = Batch.events(0..<600)
            try await fixture.publish(Array(events.prefix(10)))
            fixture.kafka.kill(node: 1)
            let worker = try fixture.spawnWorker()
            try await worker.waitForLog("no broker answers yet")
            try await fixture.kafka.revive(node: 1)
            try await fixture.waitForResults(10, within: 120)
            #expect(worker.isRunning)

            try await fixture.publish(Array(events.dropFirst(10)))
            try await fixture.waitForResults(60)
            // Twenty calls are under way, and a transaction is open at any moment.
            fixture.kafka.kill(node: 1)
            try await fixture.kafka.revive(node: 1)
            try await fixture.waitForResults(600, within: 120)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<600))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }
}

@Suite("A broker that loses answers, is slow, hangs or forbids", .ownKafka("A broker that hurts"), .hangLimit)
struct HurtfulBrokerTests {
    @Test(
        "The answers to commits, and to every other step of a transaction, are lost: nothing is lost, nothing recorded twice"
    )
    func lostAnswers() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.misbehaviour = [.latency(milliseconds: 1...20)]
        try await Fixture.run(plan) { fixture in
            let proxy = try #require(fixture.kafka.proxy)
            let worker = try await fixture.startWorker(changing: fixture.behindProxy)
            let steps: [KafkaProxy.Request] = [
                .endTransaction, .commitOffsets, .addOffsets, .addPartitions, .produce, .endTransaction,
            ]
            for (round, step) in steps.enumerated() {
                let before = proxy.lostAnswers(to: step)
                proxy.loseAnswers(to: step, count: 3)
                try await fixture.publish(Batch.events(round * 100..<(round + 1) * 100))
                try await fixture.wait("answers to \(step) are lost") { proxy.lostAnswers(to: step) == before + 3 }
                try await fixture.waitForResults((round + 1) * 100)
            }
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<600))
            oracle.expectCalls { _ in 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("A slow broker costs time, and nothing else")
    func slow() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            let proxy = try #require(fixture.kafka.proxy)
            let worker = try await fixture.startWorker(changing: fixture.behindProxy)
            proxy.delayAnswers(milliseconds: 100)
            defer { proxy.delayAnswers(milliseconds: 0) }
            try await fixture.publish(Batch.events(0..<500))
            try await fixture.waitForResults(500)
            try await fixture.waitUntilAllIsCommitted()
            #expect(worker.isRunning)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<500))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A broker hangs for longer than a transaction may be open: memory stays flat, and then everything goes on")
    func hangs() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.settings = [
            "delivery.maxInFlight": "20",
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#,
        ]
        plan.misbehaviour = [.latency(milliseconds: 10...10)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<3_000))
            try await fixture.waitForResults(300)
            let before = try #require(worker.peakKilobytes)
            fixture.kafka.pause(node: 1)
            // This long hang is the fault itself; nothing is waited for.
            try await Task.sleep(for: .seconds(8))
            fixture.kafka.resume(node: 1)
            try await fixture.waitForResults(3_000)
            try await fixture.waitUntilAllIsCommitted()
            let peak = try #require(worker.peakKilobytes)
            print("a broker hung for 8 s: \(before) KB at most before, \(peak) KB after")
            #expect(peak - before < 32 * 1_024)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<3_000))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("Without a permission a worker ends with 1 and the kafka-acls line that grants it; with it, it goes on")
    func forbidden() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.more = ["forbidden"]
        try await Fixture.run(plan) { fixture in
            // Only the user ANONYMOUS is here. What no rule names is allowed; of what one names, only what it allows.
            let locked: [AccessResource] = [
                .topic(fixture.topic("forbidden")), .transactionalID("\(fixture.name)-locked-0"),
                .group("\(fixture.name)-locked"),
            ]
            try await fixture.kafka.allow(.anonymous, [.describe], on: locked)
            try await fixture.publish(Batch.events(0..<10))
            let cases: [(changes: [String: String], words: [String])] = [
                (["kafka.instance": "locked"], ["--operation Write", "--operation Describe", "--transactional-id"]),
                (["kafka.group": "\(fixture.name)-locked"], ["--operation Read", "--group"]),
                (
                    ["topics.results": fixture.topic("forbidden")],
                    ["--operation Write", "--operation Describe", fixture.topic("forbidden")]
                ),
            ]
            for (changes, words) in cases {
                let worker = try fixture.spawnWorker(changing: changes)
                #expect(try await worker.waitForExit() == 1)
                let message = try #require(worker.logLines.last { $0.level == "error" }).message
                for word in ["kafka-acls --add"] + words { #expect(message.contains(word), "\(changes): \(message)") }
            }
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 })

            try await fixture.kafka.takeBack(.anonymous, [.describe], on: locked)
            _ = try await fixture.startWorker(
                changing: cases.reduce(into: [:]) { $0.merge($1.changes) { $1 } }.filter { $0.key != "kafka.group" })
            try await fixture.wait("all is delivered") { fixture.count("forbidden") == 10 }
            try await fixture.waitUntilAllIsCommitted()
        }
    }
}
