import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Settings that change while a worker runs", .realKafka("Settings that change while a worker runs"))
struct ReloadTests {
    /// Rewrites the worker's file, signals it, and waits until it has logged the effect.
    private func reload(
        _ worker: HeraldProcess, of fixture: Fixture, _ changes: [String: String], saying part: String
    ) async throws {
        let file = fixture.directory.appending(path: "worker-0.yaml")
        try fixture.settings.changing(changes).text.write(to: file, atomically: true, encoding: .utf8)
        worker.hangUp()
        try await worker.waitForLog(part)
    }

    @Test("A breaker is turned off, a status gets another meaning, the log gets quieter, a restart is named")
    func breakerAndStatuses() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "outages.deadLetterBreaker.of": "10", "delivery.lanes": "2", "retry.delays": "[1s]",
        ]
        plan.misbehaviour = [
            .status(404) { ($0.user, $0.callsPerKey) = ("late-*", 1) }, .status(404) { $0.user = "user-*" },
        ]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<60))
            try await worker.waitForLog("outage:")
            try await reload(
                worker, of: fixture, ["outages.deadLetterBreaker.of": "0", "kafka.group": "another"],
                saying: "settings read again: outages.deadLetterBreaker.of 10 → 0; needs a restart: kafka.group")
            try await fixture.waitForResults(60)
            try await fixture.wait("all are dead letters") { fixture.deadLetters.count == 60 }

            var changes = [
                "outages.deadLetterBreaker.of": "0", "outages.breaker.of": "0", "backend.statuses": "{404: transient}",
            ]
            try await reload(
                worker, of: fixture, changes,
                saying: #"settings read again: backend.statuses {} → {"404":"transient"}, outages.breaker.of 100 → 0"#)
            try await fixture.publish((60..<80).map { Publication(id: "e\($0)", user: "late-\($0)") })
            try await fixture.waitForResults(80)
            try await fixture.waitUntilAllIsCommitted()
            #expect(fixture.retries.count == 20)
            #expect(fixture.deadLetters.count == 60, "what was decided stays so")
            let rejected = (0..<60).map { ("e\($0)", ["apns": "dead-lettered rejected 404 attempts 1"]) }
            let late = (60..<80).map { ("e\($0)", ["apns": "delivered 200 attempts 2"]) }
            try await Oracle(fixture).expectResults(Dictionary(uniqueKeysWithValues: rejected + late))

            changes["log.level"] = "error"
            try await reload(worker, of: fixture, changes, saying: "settings read again: log.level info → error")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            #expect(!worker.output.contains("draining"))
        }
    }

    @Test("A file with mistakes changes nothing, and all of them are logged")
    func mistakes() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await reload(
                worker, of: fixture,
                ["limits.perSecond": "0", "retry.immediate": "many", "log.level": "debug", "kafka.group": "another"],
                saying: "settings read again and not taken")
            let errors = worker.logLines.filter { $0.level == "error" }.map(\.message)
            #expect(errors.count == 3)
            #expect(errors.contains { $0.contains("worker-0.yaml:") && $0.contains("limits.perSecond: \"0\"") })
            #expect(errors.contains { $0.contains("retry.immediate: \"many\"") })
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await reload(worker, of: fixture, [:], saying: "settings read again: nothing has changed")
        }
    }
}
