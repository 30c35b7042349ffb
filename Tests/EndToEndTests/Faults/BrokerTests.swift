import HeraldSandbox
import TestSupport
import Testing

@Suite("An absent broker", .ownKafka("An absent broker"), .hangLimit)
struct BrokerTests {
    @Test("A worker waits for a broker that is down, and goes on after one that dies in a transaction")
    func brokerDown() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        plan.settings = Held.settings
        try await Fixture.run(plan) { fixture in
            try await Self.waitAtTheStart(fixture)
            try await Self.dieInTransaction(fixture)
            try await fixture.waitForResults(50)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<50))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("Commands on a broker that has just started wait for leaders and coordinators, and succeed")
    func commandsAtTheStart() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Publication(id: "e", user: "anna")])
            try await fixture.waitForResults(1)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            // A waiting event, so that the group is queried, too.
            try await fixture.publish([Publication(id: "late", user: "anna")])
            fixture.kafka.kill(node: 1)
            try await fixture.kafka.revive(node: 1)
            let commands = [
                ["explain", "late", "--user", "anna"], ["find", "--user", "anna"], ["doctor", "--only", "kafka"],
                ["dlq", "list"], ["campaign", "status"], ["offsets", "show"],
            ]
            let processes = try commands.map { try fixture.startTool($0) }
            for (command, process) in zip(commands, processes) {
                let status = try await process.waitForExit(within: 120)
                #expect(status == 0, "\(command): \(process.output)")
            }
        }
    }

    /// A worker started before its broker delivers ten events.
    private static func waitAtTheStart(_ fixture: Fixture) async throws {
        try await fixture.publish(Batch.events(0..<10))
        fixture.kafka.kill(node: 1)
        let worker = try fixture.spawnWorker()
        try await worker.waitForLog("no broker answers yet")
        try await fixture.kafka.revive(node: 1)
        try await fixture.waitForResults(10, within: 120)
        worker.terminate()
        #expect(try await worker.waitForExit() == 0)
    }

    /// The broker dies while a transaction with outcomes is open and calls are in flight.
    private static func dieInTransaction(_ fixture: Fixture) async throws {
        let worker = try await fixture.startWorker(changing: ["delivery.commitInterval": "60s"])
        fixture.backend.misbehave([.hold()])
        let before = try await fixture.written("notifications.results")
        try await fixture.publish(Batch.events(10..<40))
        try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
        fixture.backend.release(5)
        try await fixture.wait("the next are in flight") { fixture.backend.calls.count == 10 + Held.inFlight + 5 }
        // Outcomes of the open transaction.
        try await fixture.waitUntilWritten(before + 5, to: "notifications.results")
        fixture.kafka.kill(node: 1)
        fixture.backend.misbehave([])
        try await fixture.kafka.revive(node: 1)
        try await fixture.publish(Batch.events(40..<50))
        try await fixture.wait("all are called") {
            Set(fixture.backend.calls.map(\.notification)).count == 50
        }
        worker.terminate()
        #expect(try await worker.waitForExit() == 0)
    }
}

@Suite("A broker that loses answers, is slow, hangs or forbids", .ownKafka("A broker that hurts"), .hangLimit)
struct HurtfulBrokerTests {
    @Test("The answers to every step of a transaction are lost, and no event is lost or recorded twice")
    func lostAnswers() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            let proxy = try #require(fixture.kafka.proxy)
            let worker = try await fixture.startWorker(changing: fixture.behindProxy)
            let steps: [KafkaProxy.Request] = [
                .endTransaction, .commitOffsets, .addOffsets, .addPartitions, .produce, .endTransaction,
            ]
            for (round, step) in steps.enumerated() {
                let before = proxy.lostAnswers(to: step)
                proxy.loseAnswers(to: step, count: 3)
                try await fixture.publish(Batch.events(round * 30..<(round + 1) * 30))
                try await fixture.wait("answers to \(step) are lost") { proxy.lostAnswers(to: step) == before + 3 }
                try await fixture.waitForResults((round + 1) * 30)
            }
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<180))
            oracle.expectCalls { _ in 1 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("publish reports that an event with a lost answer may be published, and the next step")
    func publishInDoubt() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            let proxy = try #require(fixture.kafka.proxy)
            proxy.loseAnswers(to: .produce, count: 1_000)
            let settings = fixture.behindProxy.merging(["kafka.properties": #"{message.timeout.ms: "3000"}"#]) { $1 }
            let run = try await fixture.tool(
                "publish", "--user", "ann", "--pns", "apns", "--message", "Hello", "--id", "doubtful",
                changing: settings)
            #expect(run.status == 5, "\(run.output)")
            let words = "0 events published, 1 more may be (they were sent, and got no answer), then it failed"
            #expect(
                run.output.contains(words) && run.output.contains("publish it again with --id doubtful"),
                "\(run.output)")
            try await fixture.wait("the broker has it") { fixture.count("notifications") > 0 }
        }
    }

    @Test("A slow broker costs only time")
    func slow() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            let proxy = try #require(fixture.kafka.proxy)
            let worker = try await fixture.startWorker(changing: fixture.behindProxy)
            proxy.delayAnswers(milliseconds: 100)
            defer { proxy.delayAnswers(milliseconds: 0) }
            try await fixture.publish(Batch.events(0..<200))
            try await fixture.waitForResults(200)
            try await fixture.waitUntilAllIsCommitted()
            #expect(worker.isRunning)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("A broker hangs past the transaction's time-out: memory stays flat, and everything continues")
    func hangs() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        // The member's session ends in the hang, and so does the transaction's time.
        plan.settings = Held.settings.merging([
            "kafka.properties":
                #"{session.timeout.ms: "6000", heartbeat.interval.ms: "500", transaction.timeout.ms: "6000"}"#
        ]) { $1 }
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<1_000))
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
            fixture.backend.release(5)
            try await fixture.waitForResults(5)
            let before = try #require(worker.peakKilobytes)
            fixture.kafka.pause(node: 1)
            fixture.backend.misbehave([])
            // This long hang is the fault itself; nothing is waited for.
            try await Task.sleep(for: .seconds(8))
            fixture.kafka.resume(node: 1)
            try await fixture.waitForResults(1_000)
            try await fixture.waitUntilAllIsCommitted()
            let peak = try #require(worker.peakKilobytes)
            print("a broker hung for 8 s: \(before) KB at most before, \(peak) KB after")
            #expect(peak - before < 32 * 1_024)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<1_000))
            oracle.expectCalls(exactly: false) { _ in 2 }
            oracle.expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("Without a permission a worker ends with 1 and the kafka-acls line that grants it; then it continues")
    func forbidden() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .proxied
        plan.more = ["forbidden"]
        try await Fixture.run(plan) { fixture in
            // The only user is ANONYMOUS. Resources without a rule allow everything; others, what their rules allow.
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
