import Foundation
import HeraldBytes
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

/// An audience in a fixture's directory, and `herald campaign start` on it.
extension Fixture {
    /// Writes `user-0` … with a name each.
    func audience(_ count: Int, name: String = "users.csv") throws -> String {
        var text = "user,first_name\r\n"
        for number in 0..<count { text += "user-\(number),\"Name, \(number)\"\r\n" }
        let file = directory.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// The words of a start of the campaign `spring`.
    func startWords(_ audience: String, pns: String = "apns", _ more: [String] = []) -> [String] {
        [
            "campaign", "start", "--name", "spring", "--audience", audience, "--message", "Hi {{first_name}}",
            "--pns", pns, "--yes", "--invalid-file", directory.appending(path: "invalid.csv").path,
        ] + more
    }

    /// How often each user's event was published.
    func publishedCounts() -> [String: Int] {
        // A reader that loses its broker may begin again, and have read records twice.
        var seen: Set<String> = []
        return records("notifications.bulk").filter { seen.insert($0.place).inserted }
            .reduce(into: [:]) { $0[String(decoding: $1.key ?? [], as: UTF8.self), default: 0] += 1 }
    }

    /// Whether each of so many users was called exactly once, with a key of his own.
    func isEachCalledOnce(_ count: Int) -> Bool {
        let calls = backend.calls
        return calls.count == count && calls.last?.number == count
            && Set(calls.compactMap(\.notification)).count == count && Set(calls.compactMap(\.user)).count == count
    }
}

@Suite(
    "Campaigns that are disturbed", .realKafka("Campaigns that are disturbed"), .hangLimit)
struct CampaignPublishTests {
    static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        // A machine that stands still for seconds must not take a worker's calls in flight for those of a dead one, or
        // for ones that nobody has answered: those are made again.
        plan.settings["kafka.properties"] = #"{session.timeout.ms: "45000", heartbeat.interval.ms: "500"}"#
        plan.settings["backend.timeout"] = "60s"
        change(&plan)
        return plan
    }

    @Test("100 000 recipients, killed ten times and started again: each is called exactly once")
    func kills() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SplitMix64(seed: seed)
        try await Fixture.run(Self.plan()) { fixture in
            let count = 100_000
            let words = fixture.startWords(try fixture.audience(count))
            _ = try await fixture.startWorker()
            for _ in 0..<10 {
                let before = fixture.count("notifications.bulk")
                let run = try fixture.startTool(words)
                // The fault itself: a moment that nobody has chosen.
                let more = Int.random(in: 1...6_000, using: &generator)
                let isUnderWay = try await eventually(within: Patience.seconds) {
                    !run.isRunning || fixture.count("notifications.bulk") >= before + more
                }
                #expect(isUnderWay && run.isRunning, "seed \(seed): \(run.output)")
                run.kill()
            }
            let last = try fixture.startTool(words + ["-o", "jsonl"])
            #expect(try await last.waitForExit(within: 180) == 0, "seed \(seed): \(last.output)")
            #expect(last.output.contains(#""end":"complete","recipients":100000,"published":100000"#), "\(last.tail)")
            #expect(last.output.contains(#""delivered":100000,"failed":0,"open":0"#))
            #expect(
                fixture.isEachCalledOnce(count), "seed \(seed): \(fixture.backend.calls.last?.number ?? 0) calls in all"
            )
            try await fixture.catchUp()
            let counts = fixture.publishedCounts()
            #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        }
    }

    @Test("Two starts of one campaign at the same time: the second takes over, and nobody is called twice")
    func two() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let count = 3_000
            let words = fixture.startWords(try fixture.audience(count), ["--rate", "150/s"])
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(words)
            try await fixture.wait("it publishes") { fixture.count("notifications.bulk") > 100 }
            let second = try fixture.startTool(words)
            #expect(try await first.waitForExit(within: 120) == 1)
            #expect(first.output.contains("another publisher of campaign spring has taken over"), "\(first.output)")
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            #expect(fixture.isEachCalledOnce(count))
        }
    }

    @Test("A publisher that stood still for longer than its transaction may be open goes on, and repeats nobody")
    func stoodStill() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let count = 20_000
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(
                fixture.startWords(try fixture.audience(count)),
                changing: ["kafka.properties": #"{transaction.timeout.ms: "2000"}"#])
            func isTold() -> Bool { run.output.contains("Publishing is interrupted") }
            // The fault itself: stopped while its transaction is open; again when it was about to be committed.
            while run.isRunning, !isTold() {
                try await fixture.wait("a transaction is open") {
                    run.pause()
                    if try fixture.hasOpenTransaction("notifications.bulk") { return true }
                    run.resume()
                    return !run.isRunning
                }
                try await fixture.wait("it is ended") { try !fixture.hasOpenTransaction("notifications.bulk") }
                let before = fixture.count("notifications.bulk")
                run.resume()
                try await fixture.wait("it is told, or goes on") {
                    isTold() || !run.isRunning || fixture.count("notifications.bulk") > before
                }
            }
            #expect(try await run.waitForExit(within: 120) == 0, "\(run.output)")
            #expect(isTold(), "\(run.output)")
            #expect(fixture.isEachCalledOnce(count), "\(fixture.backend.calls.count) calls")
        }
    }

    @Test("Ctrl-C leaves a campaign so that the same command continues it, and the audit says all of it")
    func interrupted() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(1_500), ["--rate", "150/s"])
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(words)
            try await fixture.wait("it publishes") { fixture.count("notifications.bulk") > 100 }
            first.terminate()
            #expect(try await first.waitForExit() == 3)
            #expect(first.output.contains("the same command continues with the rest"), "\(first.output)")
            let second = try fixture.startTool(words)
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            #expect(second.output.contains("Continues: ") && fixture.isEachCalledOnce(1_500))
            try await fixture.catchUp()
            let entries = fixture.records("notifications.audit").compactMap(\.json)
            #expect(entries.allSatisfy { $0["action"] as? String == "campaign.start" })
            #expect(entries.map { $0["phase"] as? String } == ["started", "ended", "continued", "ended"])
            #expect(entries.compactMap { $0["end"] as? String } == ["interrupted", "complete"])
        }
    }

    @Test(
        "A pause is honoured within a batch, waited out, and the campaign goes on with its resume; a cancellation ends it"
    )
    func paused() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(4_000), ["--rate", "200/s"])
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(words)
            try await fixture.wait("it publishes") { fixture.count("notifications.bulk") > 100 }
            #expect(try await fixture.campaign("pause", "spring", "--reason", "wrong link").status == 0)
            try await fixture.wait("it is paused") { run.output.contains("wrong link") }
            let refused = try fixture.startTool(words)
            #expect(try await refused.waitForExit() == 1 && refused.output.contains("herald campaign resume spring"))
            // By now the mark of the last transaction is written, too.
            let atPause = try await fixture.written("notifications.bulk")
            // Its heartbeats go on, its events do not: two of them are time enough for both.
            let beats = fixture.count("notifications.campaigns")
            try await fixture.wait("it lives") { fixture.count("notifications.campaigns") >= beats + 2 }
            #expect(try await fixture.written("notifications.bulk") == atPause)
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            try await fixture.wait("it goes on") { fixture.count("notifications.bulk") > 1_200 }
            #expect(try await fixture.campaign("cancel", "spring", "--yes").status == 0)
            #expect(try await run.waitForExit() == 3 && run.output.contains("The campaign was cancelled"))
            #expect(fixture.count("notifications.bulk") < 4_000)
            let again = try fixture.startTool(words)
            #expect(try await again.waitForExit() == 1 && again.output.contains("was cancelled, which is for ever"))
        }
    }

    @Test("Too many failures pause it, by whoever sees them first; without a terminal that is the end, with 3")
    func failures() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.user = "user-*1" }] }
        try await Fixture.run(plan) { fixture in
            let words = fixture.startWords(
                try fixture.audience(3_000), ["--rate", "250/s", "--pause-if-failures", "5%"])
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(words)
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            #expect(run.output.contains("is paused because too many failed"), "\(run.output)")
            #expect(fixture.count("notifications.bulk") < 3_000)
            #expect(try await fixture.campaignStatus("spring")["state"] as? String == "paused")
        }
    }

    @Test("The steps of a ramp wait for their outcomes, and bad ones pause it however few they are")
    func ramp() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.user = "user-3" }] }
        try await Fixture.run(plan) { fixture in
            let more = ["--ramp", "2,5", "--pause-if-failures", "10%"]
            let run = try fixture.startTool(fixture.startWords(try fixture.audience(100), more))
            try await fixture.wait("the first step is published") { fixture.count("notifications.bulk") == 2 }
            _ = try await fixture.startWorker()
            #expect(try await run.waitForExit() == 3 && run.output.contains("1 of 7 outcomes failed"), "\(run.output)")
            #expect(fixture.count("notifications.bulk") == 7)
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            // What was seen does not count again.
            let rest = try fixture.startTool(fixture.startWords("\(fixture.directory.path)/users.csv", more))
            #expect(try await rest.waitForExit() == 3, "\(rest.output)")
            #expect(fixture.count("notifications.bulk") == 100 && rest.output.contains("99 delivered, 1 not"))
        }
    }

    @Test("What retention has deleted is missed: nothing more is published")
    func retention() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(1_000), ["--rate", "100/s"])
            let run = try fixture.startTool(words)
            try await fixture.wait("some are published") { fixture.count("notifications.bulk") > 100 }
            run.terminate()
            #expect(try await run.waitForExit() == 3)
            try await fixture.deleteTopic("notifications.bulk")
            try await fixture.makeTopic("notifications.bulk")
            let again = try fixture.startTool(words)
            #expect(try await again.waitForExit(within: 120) == 1)
            #expect(again.output.contains("retention has deleted it"), "\(again.output)")
            #expect(try await fixture.written("notifications.bulk") == 0)
        }
    }

    @Test("A campaign that is started again with something else is refused, and says what")
    func differs() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let path = try fixture.audience(3)
            let first = try fixture.startTool(fixture.startWords(path))
            #expect(try await first.waitForExit() == 0, "\(first.output)")
            var words = fixture.startWords(path)
            words[words.firstIndex(of: "Hi {{first_name}}") ?? 0] = "Bye"
            for (other, reason) in [
                (words, "its message is another"), (fixture.startWords(path, pns: "gcm"), "its push services are apns"),
                (fixture.startWords(path, ["--expires-in", "1h"]), "its events do not expire"),
                (fixture.startWords(path, ["--topic", fixture.topic("notifications")]), "its topic is"),
            ] {
                let run = try fixture.startTool(other)
                #expect(try await run.waitForExit() == 1 && run.output.contains(reason), "\(run.output)")
            }
            // More people may come in.
            let more = try fixture.startTool(fixture.startWords(try fixture.audience(5, name: "more.csv")))
            #expect(try await more.waitForExit() == 0 && fixture.isEachCalledOnce(5), "\(more.output)")
        }
    }

    @Test("Hostile texts reach their recipients as they are, and nobody's terminal")
    func hostile() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let text = "\u{1B}]0;pwned\u{7}\u{202E}=1+1 \"quoted\" {{x}} <b>"
            let file = fixture.directory.appending(path: "hostile.csv")
            let rows = "user,first_name\nann,\"\(text.replacing("\"", with: "\"\""))\"\n\u{1B}[2J,=cmd()\n"
            try rows.write(to: file, atomically: true, encoding: .utf8)
            let run = try fixture.startTool(fixture.startWords(file.path))
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            #expect(!run.output.contains("\u{1B}") && !run.output.contains("\u{202E}") && !run.output.contains("\u{7}"))
            try await fixture.catchUp()
            let event = try #require(fixture.records("notifications.bulk").first?.json)
            #expect(event["message"] as? String == "Hi " + text)
            #expect(event["source"] as? String == "herald-campaign" && event["campaign"] as? String == "spring")
            let invalid = try String(contentsOf: fixture.directory.appending(path: "invalid.csv"), encoding: .utf8)
            #expect(!invalid.contains("\u{1B}") && invalid.contains("\\u{1B}[2J"))
        }
    }

    @Test("Without a terminal it needs --yes, -o json is one object, and an expired campaign ends with 3")
    func withoutTerminal() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let path = try fixture.audience(3)
            let asked = try fixture.startTool(fixture.startWords(path).filter { $0 != "--yes" })
            #expect(try await asked.waitForExit() == 4 && asked.output.contains("add --yes"), "\(asked.output)")
            #expect(fixture.count("notifications.bulk") == 0)
            let run = try fixture.startTool(fixture.startWords(path, ["-o", "json", "--quiet", "--expires-in", "1h"]))
            #expect(try await run.waitForExit() == 0)
            let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect(object?["end"] as? String == "complete" && object?["delivered"] as? Int == 3, "\(run.output)")
            let expiresAt = try #require(fixture.records("notifications.bulk").first?.json?["expiresAt"] as? String)
            #expect(expiresAt.hasSuffix("Z"))
            var late = fixture.startWords(path, ["--expires-in", "1ms"])
            late[3] = "late"
            let expired = try fixture.startTool(late)
            #expect(try await expired.waitForExit() == 3 && expired.output.contains("have expired"))
        }
    }
}

@Suite("A campaign whose broker dies", .ownKafka("A campaign whose broker dies"), .hangLimit)
struct CampaignBrokerTests {
    @Test("It goes on by itself after its broker has died and come back, and each recipient has one event and one key")
    func brokerDies() async throws {
        try await Fixture.run(CampaignPublishTests.plan { $0.hasMortalBroker = true }) { fixture in
            let count = 2_000
            let run = try fixture.startTool(fixture.startWords(try fixture.audience(count), ["--rate", "400/s"]))
            _ = try await fixture.startWorker()
            try await fixture.wait("some are published") { fixture.count("notifications.bulk") >= 100 }
            fixture.kafka.kill(node: 1)
            try await fixture.kafka.revive(node: 1)
            #expect(try await run.waitForExit(within: 180) == 0, "\(run.output)")
            try await fixture.catchUp()
            let counts = fixture.publishedCounts()
            #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
            // A worker that has lost its broker may repeat calls whose outcomes it could not write, with the same keys.
            #expect(Set(fixture.backend.calls.compactMap(\.notification)).count == count)
        }
    }
}
