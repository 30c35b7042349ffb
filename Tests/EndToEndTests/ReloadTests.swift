import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Settings that change while a worker runs", .realKafka("Settings that change while a worker runs"))
struct ReloadTests {
    /// Writes the worker's file anew and tells it so, and waits until it has said what it made of that.
    private func reload(
        _ worker: HeraldProcess, of fixture: Fixture, _ changes: [String: String], saying part: String
    ) async throws {
        let file = fixture.directory.appending(path: "worker-0.yaml")
        try fixture.settings.changing(changes).text.write(to: file, atomically: true, encoding: .utf8)
        worker.hangUp()
        try await worker.waitForLog(part)
    }

    @Test("A breaker is turned off, a status gets another meaning, and what needs a restart is named")
    func breakerAndStatuses() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "outages.deadLetterBreaker.of": "10", "delivery.lanes": "2", "retry.delays": "[1s, 2s, 4s, 8s, 16s]",
        ]
        plan.misbehaviour = [.status(404)]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<60))
            try await worker.waitForLog("outage:")
            try await reload(
                worker, of: fixture, ["outages.deadLetterBreaker.of": "0", "kafka.group": "another"],
                saying: "settings read again: outages.deadLetterBreaker.of 10 → 0; needs a restart: kafka.group")
            try await fixture.waitForResults(60)
            try await fixture.wait("all are dead letters") { fixture.deadLetters.count == 60 }

            try await reload(
                worker, of: fixture,
                [
                    "outages.deadLetterBreaker.of": "0", "outages.breaker.of": "0",
                    "backend.statuses": "{404: transient}",
                ],
                saying: #"settings read again: backend.statuses {} → {"404":"transient"}, outages.breaker.of 100 → 0"#)
            try await fixture.publish(Batch.events(60..<80))
            try await fixture.wait("they are retried") { fixture.retries.count >= 20 }
            #expect(fixture.deadLetters.count == 60, "what was decided stays so")

            fixture.backend.misbehave([])
            try await fixture.waitForResults(80)
            try await fixture.waitUntilAllIsCommitted()
            let rejected = (0..<60).map { ("e\($0)", ["apns": "dead-lettered rejected 404 attempts 1"]) }
            try await Oracle(fixture).expectResults(
                Batch.delivered(60..<80, attempts: nil).merging(rejected) { $1 })
        }
    }

    @Test("Limits sink and rise in all lanes, and the log gets quieter")
    func limits() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.lanes": "2", "delivery.maxInFlight": "4"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await reload(
                worker, of: fixture, ["limits.perSecond": "1"], saying: "settings read again: limits.perSecond none → 1"
            )
            try await fixture.publish(Batch.events(0..<300))
            try await fixture.wait("some are called") { fixture.backend.calls.count >= 3 }
            #expect(fixture.backend.calls.count < 300)
            try await reload(
                worker, of: fixture, ["delivery.maxInFlight": "500"],
                saying: "settings read again: delivery.maxInFlight 4 → 500, limits.perSecond 1 → none")
            try await fixture.waitForResults(300)
            try await reload(
                worker, of: fixture, ["delivery.maxInFlight": "500", "log.level": "error"],
                saying: "settings read again: log.level info → error")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            #expect(!worker.output.contains("draining"))
            try await Oracle(fixture).expectResults(Batch.delivered(0..<300))
        }
    }

    @Test("A file with mistakes changes nothing, and all of them are said")
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
