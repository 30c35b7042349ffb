import Foundation
import TestSupport
import Testing

/// A worker, a console that asks it, and a clock.
struct Night {
    let fixture: Fixture
    let worker: HeraldProcess
    let console: ConsoleClient

    /// Waits until the worker is not ready and the verdict is bad, both for this reason and naming the topic.
    ///
    /// - Returns: the worker's sentence.
    func expect(_ reason: String, naming part: String) async throws -> String {
        let begin = ContinuousClock.now
        let sentence = try await worker.waitUntilNotReady(reason, naming: part)
        Self.note("not ready, \(reason)", since: begin)
        _ = try await console.ask("/api/verdict") {
            $0["key"] as? String == reason && $0["state"] as? String == "bad"
                && ($0["sentence"] as? String)?.contains(part) == true
        }
        Self.note("verdict, \(reason)", since: begin)
        #expect(try await worker.metrics()["herald_ready"] == 0)
        return sentence
    }

    /// Waits until the worker is ready and the verdict good, and nothing is left to be done.
    func expectWell(results: Int) async throws {
        let begin = ContinuousClock.now
        try await fixture.waitForResults(results, within: 120)
        try await worker.waitUntilReady()
        Self.note("ready again", since: begin)
        try await fixture.waitUntilAllIsCommitted()
        _ = try await console.ask("/api/verdict") { $0["key"] as? String == "delivering" }
        Self.note("verdict good again", since: begin)
    }

    /// The verdict, once it or one beside it has this key and the condition holds; publishes again meanwhile.
    @discardableResult
    func verdict(
        _ key: String, publishing events: ((Int) -> [Publication])? = nil,
        _ isSo: @escaping (_ state: String, _ sentence: String) -> Bool = { _, _ in true }
    ) async throws -> (state: String, sentence: String, answer: [String: Any]) {
        let begin = ContinuousClock.now
        var last: (text: String, object: [String: Any]) = ("", [:])
        var found: (state: String, sentence: String)?
        var round = 0
        _ = try await eventually(within: 2 * Patience.seconds) {
            if let events { try await self.fixture.publish(events(round)) }
            round += 1
            let answer = try await self.console.ask("/api/verdict")
            last = (answer.text, answer.object)
            let all = [answer.object] + (answer.object["others"] as? [[String: Any]] ?? [])
            found = all.first { $0["key"] as? String == key }.map {
                ($0["state"] as? String ?? "", $0["sentence"] as? String ?? "")
            }
            return found.map { isSo($0.state, $0.sentence) } ?? false
        }
        guard let found, isSo(found.state, found.sentence) else { throw WorldError("no verdict \(key): \(last.text)") }
        Self.note("verdict \(key)", since: begin)
        return (found.state, found.sentence, last.object)
    }

    static func note(_ what: String, since begin: ContinuousClock.Instant) {
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        RunFile.append(String(format: "%.1f\t", seconds) + what, to: "NIGHT_TIMES")
    }

    /// Runs a night that begins with a worker that delivers, and a console that says so.
    static func run(
        _ plan: Fixture.Plan, login: (Fixture) async throws -> [String: String] = { _ in [:] },
        _ body: (Night) async throws -> Void
    ) async throws {
        var plan = plan
        plan.more = Fixture.replayTopics
        plan.settings["admin.listen"] = "127.0.0.1:\(try #require(FreePorts.take(1).first))"
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(changing: login(fixture))
            let console = try await ConsoleClient(fixture)
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            try await worker.waitUntilReady()
            _ = try await console.ask("/api/verdict") { $0["key"] as? String == "delivering" }
            try await body(Night(fixture: fixture, worker: worker, console: console))
        }
    }
}
