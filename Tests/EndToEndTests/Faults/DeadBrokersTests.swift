import Foundation
import Glibc
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// Two of three brokers die, and the controllers' quorum with them: the remaining broker answers every query about the
/// cluster as if nothing had happened, and nothing can be written any more.
@Suite("Two of three brokers are dead", .ownKafka("Two of three brokers are dead"), .hangLimit)
struct DeadBrokersTests {
    private struct Verdict: Decodable {
        var state: String
        var key: String
        var sentence: String
    }

    /// Waits for a verdict; throws with the last one.
    private static func wait(
        _ console: ConsoleClient, for what: String, _ isMeant: (Verdict) -> Bool
    ) async throws -> Verdict {
        var last: Verdict?
        let isSo = try await eventually(within: 2 * Patience.seconds) {
            let verdict: Verdict = try await console.look("/api/verdict")
            last = verdict
            return isMeant(verdict)
        }
        guard isSo, let last else { throw WorldError("no verdict \(what), but: \(last.map { "\($0)" } ?? "none")") }
        return last
    }

    /// The addresses of all nodes but this one.
    private static func dead(_ fixture: Fixture, living node: Int) -> [String] {
        fixture.bootstrapServers.split(separator: ",").enumerated().filter { $0.offset != node - 1 }
            .map { String($0.element) }
    }

    private static func isPlain(_ verdict: Verdict) -> Bool { verdict.state == "good" && verdict.key == "delivering" }

    @Test(
        "Worker, metrics and console report and name them; without a worker's report nothing is ever green",
        .long("it takes most of a minute until outcomes have waited for too long"))
    func worker() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        plan.settings = Held.settings
        try await Fixture.run(plan) { fixture in
            // Its admin port is a free one: the console finds it through the group.
            let worker = try await fixture.startWorker()
            let console = try await ConsoleClient(fixture)
            let blind = try await ConsoleClient(fixture, changing: ["admin.listen": "off"])
            _ = try await Self.wait(console, for: "that it delivers", Self.isPlain)
            let unknown = try await Self.wait(blind, for: "that it is not known") { $0.key == "not-known" }
            #expect(unknown.state == "unknown" && unknown.sentence.contains("none of their admin ports is known here"))
            try await worker.waitUntilReady()

            fixture.backend.misbehave([.hold()])
            try await fixture.publish(Batch.events(0..<8))
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == 8 }
            for node in [2, 3] { fixture.kafka.kill(node: node) }
            let death = ContinuousClock.now
            _ = try await Self.wait(console, for: "that something is wrong") { $0.state != "good" }
            Night.note("after two brokers' death the verdict is not good", since: death)
            // Called, and not recorded: no broker accepts the outcomes.
            fixture.backend.misbehave([])
            let named = Self.dead(fixture, living: 1)
            let sentence = try await worker.waitUntilNotReady("too-few-brokers", naming: named[0])
            Night.note("after two brokers' death the worker is not ready", since: death)
            #expect(sentence.contains(named[1]) && sentence.contains(fixture.topic("notifications")))
            let metrics = try await worker.metrics()
            #expect(metrics["herald_ready"] == 0 && metrics["herald_brokers_reachable"] == 1)
            #expect(metrics["herald_brokers_silent"] == 2 && metrics["herald_partitions_unusable"] ?? 0 > 0)
            let bad = try await Self.wait(console, for: "that brokers are dead") {
                $0.key == "too-few-brokers" && $0.state == "bad"
            }
            #expect(bad.state == "bad" && named.allSatisfy { bad.sentence.contains($0) })
            try await worker.waitUntilNotReady("no-progress", naming: "8 events in memory")
            #expect(try await worker.metrics()["herald_stalled_seconds"] ?? 0 > 30)
            #expect(try await worker.page("/livez").status == 200, "a restart would repeat its calls")
            let blindly = try await Self.wait(blind, for: "that brokers are dead") { $0.key == "too-few-brokers" }
            #expect(blindly.state == "bad" && named.allSatisfy { blindly.sentence.contains($0) }, "\(blindly.sentence)")
            for sentence in [bad.sentence, blindly.sentence] {
                #expect(!sentence.contains("Local: ") && !sentence.contains("_T"), "\(sentence)")
            }

            try await fixture.kafka.revive(nodes: [2, 3])
            try await fixture.waitForResults(8, within: 120)
            try await worker.waitUntilReady()
            _ = try await Self.wait(console, for: "that all is well again", Self.isPlain)
            _ = try await Self.wait(blind, for: "that it is not known again") { $0.key == "not-known" }
            #expect(try await worker.metrics()["herald_stalled_seconds"] == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<8))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("All three brokers die: the worker says that none answers, and not that others have to take over")
    func all() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await worker.waitUntilReady()
            for node in 1...3 { fixture.kafka.kill(node: node) }
            let death = ContinuousClock.now
            var others: Set<String> = []
            let isTold = try await eventually(within: 2 * Patience.seconds) {
                let page = try await worker.page("/readyz").text
                if page.contains("3 brokers do not answer") || page.contains("\"unassigned\"") { others.insert(page) }
                return page.contains("brokers-unreachable")
            }
            Night.note("after all brokers' death the worker is not ready", since: death)
            #expect(isTold && others.isEmpty, "\(others)")
        }
    }

    @Test("One of three brokers dies: a warning names it and the missing copies, and all is delivered")
    func one() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let console = try await ConsoleClient(fixture)
            _ = try await Self.wait(console, for: "that it delivers", Self.isPlain)
            // A client that asks for ends alone, as a worker's does, learns of leaders from nothing else.
            let client = try Consumer(properties: [
                ("bootstrap.servers", fixture.bootstrapServers), ("group.id", "ends"),
            ])
            defer { client.close() }
            let queries = client.queries
            let partitions = (0..<3).map { TopicPartition(topic: fixture.topic("notifications"), partition: $0) }
            func ends() async throws -> Int64 {
                try await Blocking.run {
                    try queries.ends(of: partitions, timeout: Patience.timeout).values.reduce(0, +)
                }
            }
            #expect(try await ends() == 0)
            fixture.kafka.kill(node: 3)
            let death = ContinuousClock.now
            let named = Self.dead(fixture, living: 1)[1]
            let warned = try await Self.wait(console, for: "of a missing copy") {
                $0.key == "copies-missing" && $0.sentence.contains(named)
            }
            Night.note("after one broker's death the verdict names it", since: death)
            #expect(warned.state == "warn" && warned.sentence.contains("have fewer copies"), "\(warned.sentence)")
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20, within: 60)
            try await worker.waitUntilReady()
            #expect(try await worker.page("/readyz").text.contains("copies-missing"))
            try await fixture.kafka.revive(nodes: [3])
            _ = try await Self.wait(console, for: "that all is well again", Self.isPlain)
            #expect(try await ends() == 20, "led by others now")
        }
    }

    @Test(
        "Each of three brokers hangs in turn: it alone is said to be silent, and all is delivered",
        .long("each of three brokers hangs for as long as a client goes on asking it"))
    func frozen() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await worker.waitUntilReady()
            for node in 1...3 {
                fixture.kafka.pause(node: node)
                let pause = ContinuousClock.now
                let name = String(fixture.bootstrapServers.split(separator: ",")[node - 1])
                var (isNamed, pages) = (false, Set<String>())
                while ContinuousClock.now - pause < .seconds(25) {
                    let page = try await worker.page("/readyz").text
                    if page.contains("brokers-unreachable") { pages.insert(page) }
                    if !isNamed, page.contains("1 of 3 brokers does not answer (\(name))") {
                        isNamed = true
                        Night.note("after a broker's freeze the worker names it", since: pause)
                    }
                    try await Task.sleep(for: .milliseconds(250))
                }
                #expect(isNamed && pages.isEmpty, "node \(node): \(pages)")
                fixture.kafka.resume(node: node)
                try await worker.waitUntilReady()
                let isOver = try await eventually(within: 2 * Patience.seconds) {
                    try await !worker.page("/readyz").text.contains(name)
                }
                #expect(isOver)
            }
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20, within: 60)
        }
    }

    @Test("Commands end with 5, name the dead brokers, and end at the first signal")
    func commands() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .three
        plan.partitions = 3
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            try await fixture.publish([Publication(id: "e", user: "anna")])
            for node in [1, 3] { fixture.kafka.kill(node: node) }
            let named = Self.dead(fixture, living: 2)
            let commands = [
                ["dlq", "list"], ["dlq", "replay", "--where", "status=503", "--dry-run"],
                ["find", "--user", "anna", "--all-partitions"], ["explain", "e"], ["campaign", "status"],
                ["campaign", "status", "spring"], ["campaign", "report", "spring", "--csv", "-"],
                ["campaign", "pause", "spring"], ["campaign", "resume", "spring"],
                ["campaign", "cancel", "spring", "--yes"],
                ["publish", "--user", "anna", "--pns", "apns", "--message", "hello"],
            ]
            let processes = try commands.map { try fixture.startTool($0) }
            for (command, process) in zip(commands, processes) {
                let status = try await process.waitForExit(within: 120)
                #expect(status == 5, "\(command): \(process.output)")
                #expect(named.allSatisfy { process.output.contains($0) }, "\(command): \(process.output)")
                Self.expectHeadline(of: command, process)
            }

            let interrupted = [["dlq", "list"], ["campaign", "pause", "spring"], ["campaign", "status"], ["doctor"]]
            let hanging = try interrupted.map { try fixture.startTool($0) }
            for (command, process) in zip(interrupted, hanging) {
                // Before its first request it handles signals itself.
                try await fixture.wait("it has its own way with signals") {
                    process.catchesSignals || !process.isRunning
                }
                process.terminate()
                let status = try await process.waitForExit(within: 10)
                #expect(status == 3, "\(command): \(process.output)")
            }
            try await Self.expectDoctor(fixture, names: named)
        }
    }

    @Test("With the only broker dead, campaign commands end with 5 and name it, and doctor ends with 1 and does")
    func onlyBroker() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            await Task { fixture.kafka.kill(node: 1) }.value
            let commands = [
                ["campaign", "status"], ["campaign", "report", "spring", "--csv", "-"],
                ["campaign", "pause", "spring"],
                ["campaign", "resume", "spring"], ["campaign", "cancel", "spring", "--yes"],
            ]
            let processes = try commands.map { try fixture.startTool($0) }
            for (command, process) in zip(commands, processes) {
                let status = try await process.waitForExit(within: 120)
                #expect(status == 5, "\(command): \(process.output)")
                #expect(process.output.contains(fixture.bootstrapServers), "\(command): \(process.output)")
                Self.expectHeadline(of: command, process)
            }
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.status == 1, "\(doctor.output)")
            #expect(doctor.output.contains("\(fixture.bootstrapServers): connection refused"), "\(doctor.output)")
        }
    }

    /// Its first line states the failure in words for people.
    private static func expectHeadline(of command: [String], _ process: HeraldProcess) {
        let headline = process.output.split(separator: "\n").first { $0.hasPrefix("herald: ") } ?? ""
        #expect(
            !headline.isEmpty && !headline.contains("Local: ") && !headline.contains("_T"),
            "\(command): \(process.output)")
    }

    /// The doctor names the dead brokers, their partitions, and the remedy.
    private static func expectDoctor(_ fixture: Fixture, names named: [String]) async throws {
        let doctor = try await fixture.tool("doctor", "--only", "kafka")
        #expect(doctor.status == 1, "\(doctor.output)")
        for address in named {
            #expect(
                doctor.output.contains("\(address): the cluster names this broker so, and connection refused"),
                "\(doctor.output)")
        }
        #expect(!doctor.output.contains("advertised.listeners"), "they are named rightly: \(doctor.output)")
        #expect(doctor.output.contains("the broker that leads partition"), "\(doctor.output)")
        #expect(!doctor.output.contains("embedded broker"), "\(doctor.output)")
    }
}

extension HeraldProcess {
    /// Whether the process itself handles SIGTERM (SigCgt contains it).
    fileprivate var catchesSignals: Bool {
        let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        let mask = line.flatMap { UInt64($0.dropFirst("SigCgt:".count).drop { $0.isWhitespace }, radix: 16) } ?? 0
        return mask & 1 << UInt64(SIGTERM - 1) != 0
    }
}
