import Foundation
import HeraldSandbox
import TestSupport
import Testing

/// The data of the pages Verdict and Now, on a cluster that may be harmed.
@Suite("The console's verdict", .ownKafka("The console's verdict"), .hangLimit)
struct ConsoleVerdictTests {
    private struct Finding: Decodable {
        struct Next: Decodable {
            var sentence: String
            var command: [String]?
            var href: String?
            var section: String
        }

        var state: String
        var key: String
        var sentence: String
        var since: String?
        var waiting: Int?
        var next: Next?
        var others: [Finding]?
    }

    private struct Now: Decodable {
        struct Point: Decodable {
            var at: String
            var outcomes: [String: [String: Double]]
            var workers: Int
        }
        struct Current: Decodable {
            struct Worker: Decodable {
                var address: String
                var state: String
            }
            struct Backlog: Decodable {
                var delay: String
                var waiting: Int
                var due: [Int]
            }
            var workers: [Worker]
            var backlog: [Backlog]
        }
        var points: [Point]
        var current: Current
    }

    /// Waits for a verdict.
    @discardableResult
    private func wait(
        _ console: ConsoleClient, for what: String, _ isMeant: (Finding) -> Bool
    ) async throws -> Finding {
        var last: Finding?
        // A shared machine needs a while for a broker to come back, and for a rebalance.
        let isSo = try await eventually(within: 2 * Patience.seconds) {
            let verdict: Finding = try await console.look("/api/verdict")
            last = verdict
            return isMeant(verdict)
        }
        guard isSo, let last else {
            throw WorldError("no verdict \(what), but: \(last.map { "\($0)" } ?? "none")\n\(console.process.tail)")
        }
        return last
    }

    /// A console and the worker that it finds through the group's members, at this port.
    private func look(
        _ plan: Fixture.Plan = Fixture.Plan(), _ body: (ConsoleClient, Fixture) async throws -> Void
    ) async throws {
        var plan = plan
        plan.settings["admin.listen"] = "127.0.0.1:\(try #require(FreePorts.take(1).first))"
        try await Fixture.run(plan) { fixture in
            try await body(try await ConsoleClient(fixture), fixture)
        }
    }

    @Test("It follows a worker from its start through an outage to its end, and shows the backlog")
    func outage() async throws {
        try await look { console, fixture in
            let idle = try await wait(console, for: "that no worker runs") { $0.key == "no-worker" }
            #expect(idle.state == "warn" && idle.next?.section == "heralddown")

            let worker = try await fixture.startWorker()
            try await wait(console, for: "that it delivers") { $0.state == "good" && $0.key == "delivering" }
            try await fixture.publish(Batch.events(0..<50))
            try await fixture.waitForResults(50)
            let hasRates = try await eventually {
                let now: Now = try await console.look("/api/now")
                return now.points.contains { ($0.outcomes["apns"]?["delivered"] ?? 0) > 0 }
            }
            #expect(hasRates)

            fixture.backend.misbehave([.status(503)])
            try await fixture.publish(Batch.events(50..<1_000))
            try await worker.waitForLog("outage:")
            let holding = try await wait(console, for: "that it holds") { $0.sentence.hasPrefix("Outage since") }
            #expect(holding.state == "bad" && holding.sentence.contains("503") && holding.since != nil)
            #expect(holding.next?.section == "outage-breaker" && holding.next?.command?.first == "herald")
            try await wait(console, for: "how many wait") { $0.key == "outage-breaker" && ($0.waiting ?? 0) > 0 }

            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let gone = try await wait(console, for: "that no worker runs, and events wait") {
                $0.key == "no-worker" && $0.state == "bad"
            }
            #expect(gone.sentence.contains("wait, the oldest since") && (gone.waiting ?? 0) > 0)
            console.process.terminate()
            #expect(try await console.process.waitForExit() == 0)
        }
    }

    @Test("New dead letters lead to the failures, and delayed events are shown as due later")
    func deadLetters() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(400) { $0.user = "bad-*" }]
        plan.settings["retry.delays"] = "[5m]"
        try await look(plan) { console, fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish((0..<3).map { Publication(id: "bad-\($0)", user: "bad-\($0)") })
            let failed = try await wait(console, for: "dead letters") {
                $0.key == "dead-letters" && $0.sentence.contains("3 of the last hour")
            }
            #expect(failed.sentence.contains("all with status 400"), "\(failed.sentence)")
            #expect(failed.sentence.contains("; 3 users"), "\(failed.sentence)")
            #expect(failed.next?.href?.hasPrefix("/failures") == true && failed.next?.section == "heralddeadletters")
            let later = Date.now.addingTimeInterval(600).formatted(.iso8601)
            for number in 0..<3 {
                try await fixture.publish([
                    Publication(id: "later-\(number)", user: "later", more: ["notBefore": later])
                ])
                try await fixture.wait("it is in a delay topic") { fixture.retries.count == number + 1 }
            }
            let isShown = try await eventually {
                let now: Now = try await console.look("/api/now")
                return now.current.backlog.contains { $0.waiting == 3 && $0.due.first == 0 && $0.due.last == 3 }
            }
            #expect(isShown, "three wait for their moment; the ends of their transactions are no events")
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains("3 wait for their time"), "\(doctor.output)")
        }
    }

    @Test(
        "Absent brokers are reported, and all is well again when they are back",
        .long("it takes most of a minute until brokers are called gone and all is well again"))
    func unreachable() async throws {
        var plan = Fixture.Plan()
        plan.cluster = .mortal
        try await look(plan) { console, fixture in
            let worker = try await fixture.startWorker()
            try await wait(console, for: "that it delivers") { $0.state == "good" }
            await Task { fixture.kafka.kill(node: 1) }.value
            let unreachable = try await wait(console, for: "that no broker answers") { $0.key == "brokers-unreachable" }
            #expect(unreachable.state == "bad" && unreachable.sentence.hasPrefix("Brokers unreachable"))
            #expect(unreachable.next?.section == "heraldbrokersunreachable")

            try await fixture.kafka.revive(node: 1)
            try await wait(console, for: "that all is back") { $0.state == "good" }
            try await worker.waitUntilReady()
            let isSeen = try await eventually {
                let now: Now = try await console.look("/api/now")
                return now.current.workers.map(\.state) == ["ready"]
            }
            #expect(isSeen)
            let now: Now = try await console.look("/api/now")
            #expect(zip(now.points, now.points.dropFirst()).allSatisfy { $0.at < $1.at })
        }
    }
}
