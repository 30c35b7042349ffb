import Foundation
import HeraldKafka
import HeraldSandbox
import HeraldTime
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

    /// The arguments of a start of the campaign `spring`.
    func startWords(_ audience: String, pns: String = "apns", _ more: [String] = []) -> [String] {
        [
            "campaign", "start", "--name", "spring", "--audience", audience, "--message", "Hi {{first_name}}",
            "--pns", pns, "--yes", "--invalid-file", directory.appending(path: "invalid.csv").path,
        ] + more
    }

    /// The number of published events of each user.
    func publishedCounts() -> [String: Int] {
        // A reader that loses its broker may begin again and read records twice.
        var seen: Set<String> = []
        return records("notifications.bulk").filter { seen.insert($0.place).inserted }
            .reduce(into: [:]) { $0[String(decoding: $1.key ?? [], as: UTF8.self), default: 0] += 1 }
    }

    /// The number of calls of each user, for a failure's description.
    var callCounts: String {
        let calls = backend.calls
        let repeated = Dictionary(grouping: calls, by: \.notification).values.filter { $0.count > 1 }
        let shown = repeated.prefix(3).map { calls in
            calls.map { "\($0.number) at \($0.receivedAt.milliseconds) answered \($0.status ?? 0)" }
                .joined(separator: ", ")
        }
        return "\(calls.last?.number ?? 0) calls for \(Set(calls.compactMap(\.user)).count) users, "
            + "\(repeated.count) repeated: \(shown.joined(separator: "; "))"
    }

    /// Whether each of `count` users was called exactly once, with a key of its own.
    func isEachCalledOnce(_ count: Int) -> Bool {
        let calls = backend.calls
        return calls.count == count && calls.last?.number == count
            && Set(calls.compactMap(\.notification)).count == count && Set(calls.compactMap(\.user)).count == count
    }
}

@Suite(
    "Disturbed campaigns", .realKafka("Disturbed campaigns"), .hangLimit)
struct CampaignPublishTests {
    static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        // Held calls end only when the test releases them.
        plan.settings["backend.timeout"] = "5m"
        change(&plan)
        return plan
    }

    /// Every call is held: a ramp's step is published, and its publisher waits for the outcomes.
    static func heldPlan() -> Fixture.Plan { plan { $0.misbehaviour = [.hold()] } }

    @Test("Killed with a transaction open and in steps of its ramp, it is started again: each is called once")
    func kills() async throws {
        var plan = Self.heldPlan()
        plan.cluster = .proxied
        try await Fixture.run(plan) { fixture in
            let count = 2_500
            let words = fixture.startWords(try fixture.audience(count), ["--ramp", "500,500"])
            _ = try await fixture.startWorker()
            try await fixture.killInTransaction(
                try fixture.startTool(words, changing: fixture.behindProxy), on: "notifications.bulk")
            let second = try fixture.startTool(words)
            try await fixture.wait("the first step is published") { fixture.count("notifications.bulk") == 500 }
            second.kill()
            let third = try fixture.startTool(words, changing: fixture.behindProxy)
            try await fixture.wait("it knows what is published") { third.output.contains("Continues: ") }
            try fixture.holdTransactions()
            fixture.backend.misbehave([])
            try await fixture.killInTransaction(third, on: "notifications.bulk")
            fixture.backend.misbehave([.hold()])
            let fourth = try fixture.startTool(words)
            try await fixture.wait("the second step is published") { fixture.count("notifications.bulk") == 1_000 }
            fourth.kill()
            fixture.backend.misbehave([])
            try await Self.complete(words, fixture, count: count)
        }
    }

    @Test("The late end of a batch arrives in the next: the campaign continues, each user is called once")
    func lateEnd() async throws {
        let plan = Self.plan { $0.cluster = .proxied }
        try await Fixture.run(plan) { fixture in
            let count = 2_500
            let words = fixture.startWords(try fixture.audience(count), ["--ramp", "500,500"])
            _ = try await fixture.startWorker()
            try fixture.makeLate(.endTransaction, count: 3)
            let run = try fixture.startTool(words, changing: fixture.behindProxy)
            try await fixture.waitForLate(3)
            try await fixture.holdInTransaction(run, on: "notifications.bulk")
            try await fixture.deliverLate()
            try fixture.endTransactions()
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            try await Self.complete(words, fixture, count: count)
        }
    }

    /// Publishes the rest: each user has one event, one call and one key.
    private static func complete(_ words: [String], _ fixture: Fixture, count: Int) async throws {
        let last = try fixture.startTool(words + ["-o", "jsonl"])
        #expect(try await last.waitForExit(within: 180) == 0, "\(last.output)")
        #expect(last.output.contains(#""end":"complete","recipients":\#(count),"published":\#(count)"#), "\(last.tail)")
        let outcomes = #""delivered":\#(count),"failed":0,"expired":0,"cancelled":0,"suppressed":0,"open":0"#
        #expect(last.output.contains(outcomes))
        #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
        try await fixture.catchUp()
        let counts = fixture.publishedCounts()
        #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
    }

    @Test("Two starts of one campaign at the same time: the second takes over, and no user is called twice")
    func two() async throws {
        try await Fixture.run(Self.heldPlan()) { fixture in
            let count = 1_000
            let words = fixture.startWords(try fixture.audience(count), ["--ramp", "100"])
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(words)
            try await fixture.wait("it publishes") { fixture.count("notifications.bulk") == 100 }
            let second = try fixture.startTool(words)
            try await fixture.wait("it has taken over") { second.output.contains("Continues: ") }
            fixture.backend.misbehave([])
            #expect(try await first.waitForExit(within: 120) == 1)
            #expect(first.output.contains("Another publisher of campaign spring has taken over"), "\(first.output)")
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
        }
    }

    @Test("A publisher that stood still past its transaction's time-out continues and repeats no event")
    func stoodStill() async throws {
        let plan = Self.plan { $0.cluster = .proxied }
        try await Fixture.run(plan) { fixture in
            let count = 2_000
            _ = try await fixture.startWorker()
            // This time-out is meant to expire.
            let own = ["kafka.properties": #"{transaction.timeout.ms: "3000"}"#]
            let run = try fixture.startTool(
                fixture.startWords(try fixture.audience(count), ["--ramp", "500,500,500"]),
                changing: fixture.behindProxy.merging(own) { $1 })
            try await fixture.holdInTransaction(run, on: "notifications.bulk")
            run.pause()
            try fixture.loseTransactionEnd()
            try await fixture.wait("the broker ends it") { try !fixture.hasOpenTransaction("notifications.bulk") }
            run.resume()
            try await fixture.wait("it is told") { run.output.contains("Publishing is interrupted") }
            #expect(try await run.waitForExit(within: 120) == 0, "\(run.output)")
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
        }
    }

    @Test("After Ctrl-C the same command continues the campaign, and the audit has all of it")
    func interrupted() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(500), ["--ramp", "100"])
            // No worker runs: it waits for the outcomes of its first step.
            let first = try fixture.startTool(words)
            try await fixture.wait("it publishes") { fixture.count("notifications.bulk") == 100 }
            first.terminate()
            #expect(try await first.waitForExit() == 3)
            #expect(first.output.contains("the same command continues with the rest"), "\(first.output)")
            // Before the confirmation: the remaining users, and the kept options.
            let unsure = try fixture.startTool(words.filter { !["--yes", "--ramp", "100"].contains($0) })
            #expect(try await unsure.waitForExit() == 4)
            for part in [
                "100 recipients of this audience are published, 400 remain, nobody is new",
                "--ramp 100 of its last start stays; --ramp none drops the ramp",
            ] { #expect(unsure.output.contains(part), "\(unsure.output)") }
            _ = try await fixture.startWorker()
            let second = try fixture.startTool(words.dropLast(2) + ["--ramp", "none"])
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            #expect(second.output.contains("Continues: ") && fixture.isEachCalledOnce(500))
            #expect(!second.output.contains("of the ramp") && !second.output.contains("stays"), "\(second.output)")
            try await fixture.catchUp()
            let entries = fixture.records("notifications.audit").compactMap(\.json)
            #expect(entries.allSatisfy { $0["action"] as? String == "campaign.start" })
            #expect(entries.map { $0["phase"] as? String } == ["started", "ended", "continued", "ended"])
            #expect(entries.compactMap { $0["end"] as? String } == ["interrupted", "complete"])
        }
    }

    @Test("A pause holds back a publisher that could continue, a resume releases it, a cancellation ends it")
    func paused() async throws {
        try await Fixture.run(Self.heldPlan()) { fixture in
            let words = fixture.startWords(try fixture.audience(400), ["--ramp", "50,50"])
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(words)
            try await fixture.wait("the first step is called") { fixture.backend.heldCount == 50 }
            #expect(try await fixture.campaign("pause", "spring", "--reason", "wrong link").status == 0)
            try await fixture.wait("it is paused") { run.output.contains("wrong link") }
            let refused = try fixture.startTool(words)
            #expect(try await refused.waitForExit() == 1 && refused.output.contains("herald campaign resume spring"))
            fixture.backend.release(50)
            // Its heartbeat shows that it has seen every outcome of the step, and it publishes nothing.
            try await fixture.wait("it knows the outcomes") {
                let progress = fixture.records("notifications.campaigns").last { $0.keyText == "spring/progress" }?.json
                return (progress?["outcomes"] as? [String: Int])?["delivered"] == 50
            }
            #expect(fixture.count("notifications.bulk") == 50)
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            try await fixture.wait("it goes on") { fixture.backend.heldCount == 50 }
            #expect(try await fixture.campaign("cancel", "spring", "--yes").status == 0)
            #expect(try await run.waitForExit() == 3 && run.output.contains("The campaign was cancelled"))
            #expect(fixture.count("notifications.bulk") == 100)
            let again = try fixture.startTool(words)
            #expect(try await again.waitForExit() == 1 && again.output.contains("was cancelled, which is for ever"))
        }
    }

    @Test("Too many failures pause it, whichever side sees them first; without a terminal it ends with 3")
    func failures() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.user = "user-*1" }] }
        try await Fixture.run(plan) { fixture in
            let words = fixture.startWords(
                try fixture.audience(1_000), ["--ramp", "400", "--pause-if-failures", "5%"])
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(words)
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            #expect(run.output.contains("is paused because too many failed ("), "\(run.output)")
            #expect(fixture.count("notifications.bulk") == 400)
            #expect(try await fixture.campaignStatus("spring")["state"] as? String == "paused")
        }
    }

    @Test("After a fix and a resume, earlier failures do not pause it again")
    func resumedAfterFix() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.user = "user-*1" }] }
        try await Fixture.run(plan) { fixture in
            let words = fixture.startWords(try fixture.audience(3_000), ["--pause-if-failures", "5%"])
            let first = try fixture.startTool(words)
            try await fixture.wait("all are published") { fixture.count("notifications.bulk") == 3_000 }
            first.terminate()
            #expect(try await first.waitForExit() == 3)
            _ = try await fixture.startWorker()
            let isPaused = try await eventually {
                try await fixture.campaignStatus("spring")["state"] as? String == "paused"
            }
            #expect(isPaused)
            // Calls from before the pause have their outcomes, and waiting events are in the retry topics.
            try await fixture.catchUp()
            let failed = fixture.backend.calls.count { $0.status == 400 }
            fixture.backend.misbehave([.hold()])
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            // It knows all failures, while no new call can end.
            let second = try fixture.startTool(words)
            try await fixture.wait("it knows the outcomes") {
                let progress = fixture.records("notifications.campaigns").last { $0.keyText == "spring/progress" }?.json
                return (progress?["outcomes"] as? [String: Int])?["dead-lettered"] == failed
            }
            fixture.backend.misbehave([])
            #expect(try await second.waitForExit(within: 120) == 3, "\(second.output)")
            #expect(!second.output.contains("is paused"), "\(second.output)")
            let status = try await fixture.campaignStatus("spring")
            #expect(status["state"] as? String == "finished")
            let outcomes = try #require(status["outcomes"] as? [String: Int])
            #expect(outcomes["delivered"] == 3_000 - failed && outcomes["failed"] == failed, "\(outcomes)")
        }
    }

    @Test(
        "Another audience under the same name is refused, and replaces the former one only on request"
    )
    func anotherAudience() async throws {
        try await Fixture.run(Self.heldPlan()) { fixture in
            let first = try fixture.startTool(fixture.startWords(try fixture.audience(400), ["--ramp", "50"]))
            _ = try await fixture.startWorker()
            try await fixture.wait("the first step is called") { fixture.backend.heldCount == 50 }
            // The published users but two, and 250 others.
            let file = URL(fileURLWithPath: try fixture.audience(300, name: "other.csv"))
            let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
            try await fixture.wait("the step is read back") { fixture.count("notifications.bulk") == 50 }
            let published = fixture.records("notifications.bulk").compactMap { record in
                record.key.map { String(decoding: $0, as: UTF8.self) }
            }
            let missing = published.prefix(2)
            try lines.filter { line in !missing.contains { line.hasPrefix($0 + ",") } }.joined(separator: "\n")
                .write(to: file, atomically: true, encoding: .utf8)
            let other = fixture.startWords(file.path)
            let refused = try fixture.startTool(other)
            #expect(try await refused.waitForExit() == 1)
            for part in [
                "may be at work: a start takes over from it", "the campaign had 400 recipients, 50 are published",
                "of the other 350 only those who are in this one would be", "add --replace-audience",
                "2 of those published are not in this one, and 2 notifications of theirs are still open: they are notified",
            ] { #expect(refused.output.contains(part), "\(refused.output)") }
            #expect(first.isRunning)

            let second = try fixture.startTool(other + ["--replace-audience"])
            #expect(try await first.waitForExit() == 1, "\(first.output)")
            fixture.backend.misbehave([])
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            #expect(fixture.isEachCalledOnce(300), "the two that were left out, too")
            let status = try await fixture.campaignStatus("spring")
            let replaced = try #require((status["replacedAudiences"] as? [[String: Any]])?.first)
            #expect(replaced["recipients"] as? Int == 400 && replaced["unpublished"] as? Int == 350, "\(replaced)")
            // Permanently, also when it is started again.
            #expect(try await fixture.startTool(other).waitForExit() == 0)
            let page = try await fixture.campaign("status", "spring", "--once")
            #expect(page.output.contains("another audience since "), "\(page.output)")
            #expect(page.output.contains("350 of 400 were not published by then"), "\(page.output)")
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
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            // One of seven is too many, even before the others are known.
            #expect(run.output.contains(" outcomes failed, more than 10%"), "\(run.output)")
            #expect(fixture.count("notifications.bulk") == 7)
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            // Failures that were seen do not count again.
            let rest = try fixture.startTool(fixture.startWords("\(fixture.directory.path)/users.csv", more))
            #expect(try await rest.waitForExit() == 3, "\(rest.output)")
            #expect(
                fixture.count("notifications.bulk") == 100 && rest.output.contains("99 delivered, 1 failed"))
        }
    }

    @Test("Events deleted by retention are missed: nothing more is published")
    func retention() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(300), ["--ramp", "100"])
            let run = try fixture.startTool(words)
            try await fixture.wait("some are published") { fixture.count("notifications.bulk") == 100 }
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

    @Test("Starting a campaign with other options is refused, and appended people are added")
    func differs() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            let path = try fixture.audience(3)
            let first = try fixture.startTool(fixture.startWords(path))
            #expect(try await first.waitForExit() == 0, "\(first.output)")
            let other = try fixture.startTool(fixture.startWords(path, pns: "gcm"))
            #expect(try await other.waitForExit() == 1)
            #expect(other.output.contains("its push services are apns"), "\(other.output)")
            let words = fixture.startWords(try fixture.audience(5, name: "more.csv"))
            let more = try fixture.startTool(words)
            #expect(try await more.waitForExit() == 0 && fixture.isEachCalledOnce(5), "\(more.output)")
            #expect(more.output.contains("3 recipients of this audience are published, 2 remain"), "\(more.output)")
        }
    }

    @Test("With -o json and --quiet it writes one object, and an expired campaign ends with 3")
    func withoutTerminal() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            // Even a starting worker is mentioned, because published events wait for it.
            try await fixture.startWorker().waitUntilReady()
            let path = try fixture.audience(3)
            let run = try fixture.startTool(fixture.startWords(path, ["-o", "json", "--quiet", "--expires-in", "1h"]))
            #expect(try await run.waitForExit() == 0)
            let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect(object?["end"] as? String == "complete" && object?["delivered"] as? Int == 3, "\(run.output)")
            try await fixture.catchUp()
            let event = try #require(fixture.records("notifications.bulk").first?.json)
            #expect((event["expiresAt"] as? String)?.hasSuffix("Z") == true)
            #expect(event["source"] as? String == "herald-campaign" && event["campaign"] as? String == "spring")
            var late = fixture.startWords(path, ["--expires-in", "1ms"])
            late[3] = "late"
            let expired = try fixture.startTool(late)
            #expect(try await expired.waitForExit() == 3 && expired.output.contains("have expired"))
        }
    }
}

@Suite("A campaign whose broker dies", .ownKafka("A campaign whose broker dies"), .hangLimit)
struct CampaignBrokerTests {
    @Test("Its broker dies in a transaction and comes back: it continues, and each user has one event and key")
    func brokerDies() async throws {
        let plan = CampaignPublishTests.plan {
            $0.cluster = .mortal
            $0.misbehaviour = [.hold()]
        }
        try await Fixture.run(plan) { fixture in
            let count = 2_000
            let words = fixture.startWords(try fixture.audience(count), ["--ramp", "500,500,500"])
            let run = try fixture.startTool(words, changing: fixture.behindProxy)
            _ = try await fixture.startWorker()
            try await fixture.wait("some are published") { fixture.count("notifications.bulk") == 500 }
            try fixture.holdTransactions()
            fixture.backend.misbehave([])
            try await fixture.holdInTransaction(run, on: "notifications.bulk")
            fixture.kafka.kill(node: 1)
            try fixture.loseTransactionEnd()
            try await fixture.kafka.revive(node: 1)
            #expect(try await run.waitForExit(within: 180) == 0, "\(run.output)")
            try await fixture.catchUp()
            let counts = fixture.publishedCounts()
            #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
            // A worker that has lost its broker may repeat calls without written outcomes, with the same keys.
            #expect(Set(fixture.backend.calls.compactMap(\.notification)).count == count)
        }
    }
}

extension CampaignPublishTests {
    @Test("Killed before its moment and started again, it waits for that, and each user is called once")
    func scheduled() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let count = 200
            let start = SystemClock.wall().advanced(by: .seconds(20))
            let words = fixture.startWords(
                try fixture.audience(count), ["--at", RFC3339.text(start)])
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(words)
            try await fixture.wait("it waits") { first.output.contains("It waits for its start") }
            first.kill()
            let second = try fixture.startTool(words)
            try await fixture.wait("it waits again") {
                second.output.contains("It waits for its start") || SystemClock.wall() >= start
            }
            let status = try await fixture.campaignStatus("spring")
            #expect(SystemClock.wall() >= start || status["state"] as? String == "scheduled", "\(status)")
            #expect(try await second.waitForExit(within: 120) == 0, "\(second.output)")
            try await fixture.catchUp()
            let records = fixture.records("notifications.bulk")
            #expect(records.count == count && Set(records.map(\.key)).count == count)
            #expect(records.allSatisfy { $0.timestamp >= start.milliseconds })
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
        }
    }
}
