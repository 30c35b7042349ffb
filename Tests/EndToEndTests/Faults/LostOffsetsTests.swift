import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Lost offsets", .realKafka("Lost offsets"), .hangLimit)
struct LostOffsetsTests {
    /// One of the events becomes a retry that is due long after the test.
    private static var plan: Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = ["notifications.audit"]
        plan.settings = ["retry.delays": "[1h]"]
        plan.misbehaviour = [.status(503) { $0.user = "user-7" }]
        return plan
    }

    /// Delivers twenty events, one of which is retried later, and deletes the group.
    private static func deliverAndLose(_ fixture: Fixture) async throws {
        let worker = try await fixture.startWorker()
        try await fixture.publish(Batch.events(0..<20))
        try await fixture.waitForResults(19)
        // Their offsets are committed with them.
        try await fixture.wait("one is retried") { fixture.retries.count == 1 }
        worker.terminate()
        #expect(try await worker.waitForExit() == 0)
        try await Blocking.run { try fixture.kafka.admin().deleteGroup(fixture.name, timeout: Patience.timeout) }
        #expect(try await fixture.commits().values.allSatisfy { $0.offset < 0 })
        fixture.backend.misbehave([])
    }

    @Test("A group without its offsets calls no user again; offsets restore returns them to waiting workers")
    func restored() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await Self.deliverAndLose(fixture)
            let worker = try await fixture.startWorker()
            let sentence = try await worker.waitUntilNotReady("offsets-missing", naming: "notifications/0")
            #expect(sentence.contains("herald offsets restore"))
            #expect(try await worker.metrics()["herald_partitions_offsets_missing"] ?? 0 > 0)
            try await fixture.publish(Batch.events(20..<30))

            let shown = try await fixture.tool("offsets", "show", "-o", "jsonl")
            #expect(shown.status == 0 && shown.output.contains("without an offset"), "\(shown.output)")
            let dry = try await fixture.tool("offsets", "restore", "--dry-run")
            #expect(dry.status == 0 && dry.output.contains("20 records are done; 11 are not"), "\(dry.output)")
            let refused = try await fixture.tool("offsets", "restore", "--yes")
            #expect(refused.status == 1 && refused.output.contains("stop all workers"), "\(refused.output)")
            #expect(fixture.backend.calls.count == 20, "nobody is called again, and nobody new")
            let found = try await fixture.tool("find", "--id", "e25")
            #expect(found.output.contains("(offsets-missing)"), "\(found.output)")
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains("not known: ") && !doctor.output.contains("overdue"), "\(doctor.output)")

            let restored = try await fixture.tool("offsets", "restore", "--yes", "--with-workers")
            #expect(restored.status == 0, "\(restored.output)")
            try await worker.waitUntilReady()
            try await fixture.waitForResults(29)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            let audit = fixture.records("notifications.audit").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            #expect(audit.count == 1 && audit[0].contains("offsets.restore"), "\(audit)")
        }
    }

    @Test("A retry in a topic that has left retry.delays shows too that the offsets were lost")
    func formerDelay() async throws {
        var plan = Self.plan
        plan.more += ["notifications.retry.2h"]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(7..<8))
            try await fixture.wait("it is retried") { fixture.retries.count == 1 }
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            try await Blocking.run { try fixture.kafka.admin().deleteGroup(fixture.name, timeout: Patience.timeout) }
            let worker = try await fixture.startWorker(changing: ["retry.delays": "[2h]"])
            _ = try await worker.waitUntilNotReady("offsets-missing", naming: "notifications/")
            #expect(fixture.backend.calls.count == 1)
        }
    }

    @Test("Without an audit topic nothing is restored, and the command names the topic")
    func withoutAudit() async throws {
        var plan = Self.plan
        plan.more = []
        try await Fixture.run(plan) { fixture in
            try await Self.deliverAndLose(fixture)
            let refused = try await fixture.tool("offsets", "restore", "--yes")
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("there is no topic \(fixture.topic("notifications.audit"))"))
            #expect(try await fixture.commits().values.allSatisfy { $0.offset < 0 })
        }
    }

    @Test("Restored before its start, a worker continues at once; an event that is now a retry is not repeated")
    func restoredBefore() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await Self.deliverAndLose(fixture)
            try await fixture.publish(Batch.events(20..<30))
            #expect(try await fixture.tool("offsets", "restore", "--yes", "--reason", "a test").status == 0)
            let worker = try await fixture.startWorker()
            try await fixture.waitForResults(29)
            try await worker.waitUntilReady()
            try await Oracle(fixture).expectCalls { _ in 1 }
        }
    }

    @Test("Under another kafka.group all views name the former one, and restore writes only on confirmation")
    func renamed() async throws {
        try await Fixture.run(Self.plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(19)
            try await fixture.wait("one is retried") { fixture.retries.count == 1 }
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            fixture.backend.misbehave([])
            let renamed = ["kafka.group": "\(fixture.name)-new"]
            let worker = try await fixture.startWorker(changing: renamed)
            let question = "group \(fixture.name) has Herald's offsets on these topics, for events up to 2"
            let sentence = try await worker.waitUntilNotReady("offsets-missing", naming: question)
            #expect(sentence.contains("was kafka.group renamed?"), "\(sentence)")
            try await worker.waitForLog(question)
            // The backlog is all that retention has left, once the brokers have reported how much that is.
            let isKnown = try await eventually {
                let page = try JSONSerialization.jsonObject(with: Data(try await worker.page("/readyz").body))
                let lag = (page as? [String: Any])?["lag"] as? [String: Any]
                return lag?["offsets"] as? Int ?? 0 >= 20
            }
            #expect(isKnown)
            let doctor = try await fixture.tool("doctor", "--only", "kafka", changing: renamed)
            #expect(doctor.output.contains(question), "\(doctor.output)")
            let dry = try await fixture.tool("offsets", "restore", "--dry-run", changing: renamed)
            #expect(dry.status == 0 && dry.output.contains(question), "\(dry.output)")
            let refused = try await fixture.tool("offsets", "restore", "--yes", "--with-workers", changing: renamed)
            #expect(refused.status == 1 && refused.output.contains("--with-other-groups"), "\(refused.output)")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            try await fixture.publish(Batch.events(20..<30))
            _ = try await fixture.startWorker()
            try await fixture.waitForResults(29)
            try await Oracle(fixture).expectCalls { _ in 1 }
            let meant = try await fixture.tool("offsets", "restore", "--yes", "--with-other-groups", changing: renamed)
            #expect(meant.status == 0, "\(meant.output)")
        }
    }

    @Test("A deliberate second group begins at the end, on request")
    func secondGroup() async throws {
        try await Fixture.run(Self.plan) { fixture in
            try await Self.deliverAndLose(fixture)
            let green = ["kafka.group": "\(fixture.name)-green"]
            let restored = try await fixture.tool("offsets", "restore", "--from", "latest", "--yes", changing: green)
            #expect(restored.status == 0, "\(restored.output)")
            _ = try await fixture.startWorker(changing: green)
            try await fixture.publish(Batch.events(20..<30))
            try await fixture.waitForResults(29)
            try await Oracle(fixture).expectCalls { _ in 1 }
        }
    }

    @Test("At least once: the successor of a worker killed before its first commit does not wait")
    func firstCommit() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "delivery.guarantee": "at-least-once", "delivery.commitInterval": "60s",
            "kafka.properties": Fixture.shortSession,
        ]
        try await Fixture.run(plan) { fixture in
            try await fixture.publish(Batch.events(0..<20))
            let first = try await fixture.startWorker()
            try await fixture.waitForResults(20)
            first.kill()
            _ = try await fixture.startWorker()
            try await fixture.wait("all are called again") { fixture.backend.calls.count == 40 }
        }
    }
}
