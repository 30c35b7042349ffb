import Foundation
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("Outages", .realKafka("Outages"))
struct OutageTests {
    /// Waits until the worker holds for this reason, with the same sentence in its log, readiness and metrics.
    private func expectHold(_ reason: String, of worker: HeraldProcess, in fixture: Fixture) async throws {
        let sentence = try await worker.waitUntilNotReady("outage-\(reason)")
        #expect(sentence.contains(": ") && sentence.hasSuffix("."))
        let line = try await worker.waitForLog("outage:")
        #expect(line.level == "error" && line.message.contains(sentence), "\(line.message)")
        let metrics = try await worker.metrics()
        #expect(metrics["herald_outage{reason=\"\(reason)\"}"] == 1 && metrics["herald_ready"] == 0)
        #expect(metrics.filter { $0.key.hasPrefix("herald_outage{") && $0.value != 0 }.count == 1)
        #expect(try await worker.page("/livez").status == 200)
        let called = fixture.backend.calls.count
        try await fixture.wait("a probe was made") { fixture.backend.calls.count > called }
    }

    /// Lets the backend answer, and waits until the worker has continued by itself.
    private func expectEnd(of worker: HeraldProcess, in fixture: Fixture) async throws {
        fixture.backend.misbehave([])
        try await worker.waitForLog("resuming")
        try await worker.waitUntilReady()
        try await fixture.waitForResults(200)
        try await fixture.waitUntilAllIsCommitted()
        #expect(fixture.deadLetters.isEmpty)
        #expect(worker.logLines.count { $0.message.contains("outage:") } == 1)
        #expect(worker.logLines.count { $0.message.contains("resuming") } == 1)
    }

    @Test("When every call is refused, the worker holds, loses no event and no attempt, and continues by itself")
    func credentials() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(403)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<200))
            try await expectHold("credentials", of: worker, in: fixture)
            var lag = 0.0
            try await fixture.wait("the lag is that of everything") {
                lag >= 200
            } meanwhile: {
                lag = try await worker.metrics().filter { $0.key.hasPrefix("herald_consumer_lag") }.values.reduce(0, +)
            }
            try await fixture.catchUp()
            #expect(fixture.count("notifications.results") + fixture.deadLetters.count + fixture.retries.count == 0)
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 })

            try await expectEnd(of: worker, in: fixture)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200))
            #expect(oracle.retries.isEmpty)
        }
    }

    @Test("When most calls have no answer, the worker holds and probes, makes no dead letter, and continues")
    func breaker() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.hangUp()]
        plan.settings = ["retry.delays": "[1s, 2s, 4s, 8s]"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<200))
            try await expectHold("breaker", of: worker, in: fixture)
            #expect(try await worker.page("/readyz").text.contains("\"backend\": \"unreachable\""))
            try await expectEnd(of: worker, in: fixture)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<200, attempts: nil))
        }
    }

    @Test("An outage in which a retry alone waits for its moment is a warning, until the next event ends it")
    func untried() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(503)]
        plan.settings = ["retry.delays": "[10m]"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<1))
            try await fixture.wait("a retry waits") { fixture.retries.count == 1 }
            fixture.backend.misbehave([.hangUp()])
            // Those that are called as probes expire.
            let end = RFC3339.text(SystemClock.wall().advanced(by: .seconds(12)))
            try await fixture.publish(
                (1..<200).map { Publication(id: "e\($0)", user: "user-\($0)", more: ["expiresAt": end]) })
            let sentence = try await worker.waitUntilNotReady("outage-breaker")
            #expect(!sentence.contains("no call has been tried"))
            try await fixture.waitForResults(199)
            var page = ""
            let isTold = try await eventually(within: Patience.seconds) {
                page = try await worker.page("/readyz").text
                return page.contains("\"ready\": true") && page.contains("; no call has been tried since ")
            }
            #expect(isTold && page.contains("; the next is due at ") && page.contains("outage-breaker"), "\(page)")
            fixture.backend.misbehave([])
            try await fixture.publish(Batch.events(200..<201))
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(200)
            #expect(try await !worker.page("/readyz").text.contains("outage-breaker"))
        }
    }

    @Test("A password file fixed while the worker holds is read again, and everything is delivered")
    func passwordFile() async throws {
        try await Fixture.run { fixture in
            let file = fixture.directory.appending(path: "password")
            try "wrong\n".write(to: file, atomically: true, encoding: .utf8)
            let worker = try await fixture.startWorker(
                changing: ["backend.auth.passwordFile": file.path], removing: ["backend.auth.password"])
            try await fixture.publish(Batch.events(0..<50))
            try await worker.waitForLog("outage:")
            try "herald\n".write(to: file, atomically: true, encoding: .utf8)
            try await fixture.waitForResults(50)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<50))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty)
            #expect(!worker.output.contains("wrong"))
        }
    }
}

@Suite("Reports on a worker that holds", .realKafka("Reports on a worker that holds"))
struct ToldOutageTests {
    private static var plan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// Repeats a tool that changes nothing and asks workers for seconds at most, until they have answered in time.
    @discardableResult
    private func expectSaid(
        _ parts: [String], location: SourceLocation = #_sourceLocation,
        _ tool: () async throws -> (status: Int32, output: String)
    ) async throws -> Int32 {
        var run: (status: Int32, output: String) = (0, "")
        let isSaid = try await eventually {
            run = try await tool()
            return parts.allSatisfy { run.output.contains($0) }
        }
        #expect(isSaid, "\(run.output)", sourceLocation: location)
        return run.status
    }

    @Test("The doctor and publishers learn from a worker that it holds, and why")
    func told() async throws {
        var plan = Self.plan
        plan.misbehaviour = [.status(404)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let address = "127.0.0.1:\(try await worker.adminPort())"
            try await fixture.publish(Batch.events(0..<400))
            try await worker.waitForLog("outage:")
            let status = try await expectSaid(["✗ worker", "with status 404"]) {
                try await fixture.tool("doctor", "--only", "kafka", "--workers", address)
            }
            #expect(status == 1)
            try await expectSaid(["does not deliver", "with status 404"]) {
                try await fixture.dlq("replay", "--where", "status = 404", changing: ["admin.listen": address])
            }
        }
    }

    @Test("Events published while no worker runs are reported as waiting")
    func noWorker() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await fixture.publishDeadLetters(0..<1)
            try await expectSaid(["No worker runs"]) {
                try await fixture.dlq("replay", "--where", "status = 503")
            }
        }
    }
}
