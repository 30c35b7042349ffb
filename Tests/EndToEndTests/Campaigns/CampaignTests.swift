import Foundation
import Glibc
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Commands on campaigns", .realKafka("Commands on campaigns"))
struct CampaignTests {
    private static func plan(_ change: (inout Fixture.Plan) -> Void = { _ in }) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        plan.settings = ["outages.deadLetterBreaker.of": "0"]
        change(&plan)
        return plan
    }

    /// Control characters and marks that change the writing direction.
    private static let hostile = "\u{1B}]0;pwned\u{7}\u{202E}<script>=1+1"

    @Test("status counts the real outcomes, and none twice: delivered, failed, not published")
    func outcomes() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.pns = "gcm" }] }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.events(of: "spring", 0..<30))
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 40, published: 30)])
            // Others have results, too, one of them a campaign whose name contains this one's.
            try await fixture.publish(Batch.events(0..<9) + fixture.events(of: "spring-2", 0..<5))
            try await fixture.publish([Publication(id: "spring", user: "spring")])
            try await fixture.waitForResults(80)

            let json = try await fixture.campaignStatus("spring")
            #expect(json["outcomes"] as? [String: Int] == Self.outcomes(delivered: 30, failed: 30))
            #expect(json["unpublished"] as? Int == 20 && json["waiting"] as? Int == 0 && json["retrying"] as? Int == 0)
            #expect(json["finished"] as? Bool == false && json["state"] as? String == "running")

            // Outcomes counted by its publisher are not counted again, though they are read for the pace.
            let seen = ["delivered": 30, "dead-lettered": 30]
            try await fixture.publish([
                try fixture.progress(of: "spring", recipients: 40, published: 30, outcomes: seen)
            ])
            let again = try await fixture.campaignStatus("spring")
            #expect(again["outcomes"] as? [String: Int] == Self.outcomes(delivered: 30, failed: 30))
        }
    }

    @Test("A report has the outcomes, and the message only on request, which the audit records")
    func report() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.pns = "gcm" }] }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.events(of: "spring", 0..<20))
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 20, published: 20)])
            try await fixture.waitForResults(40)
            fixture.backend.misbehave([])
            let replay = try await fixture.dlq("replay", "--group", "campaign=spring", "--yes", "-o", "jsonl")
            #expect(replay.status == 0, "\(replay.output)")
            let after = try await fixture.campaignStatus("spring")
            #expect(after["outcomes"] as? [String: Int] == Self.outcomes(delivered: 40, failed: 0, recovered: 20))
            #expect(after["finished"] as? Bool == true)

            let (page, rows) = (fixture.directory.appending(path: "a.html"), fixture.directory.appending(path: "a.csv"))
            let report = try await fixture.campaign(
                "report", "spring", "--html", page.path, "--csv", rows.path, "--all")
            #expect(report.status == 0 && report.output.contains("40 outcomes"), "\(report.output)")
            let html = try String(contentsOf: page, encoding: .utf8)
            #expect(html.contains("40 of 40 notifications") && html.contains("<svg") && !html.contains("Secret"))
            let lines = try String(contentsOf: rows, encoding: .utf8).split(separator: "\r\n")
            #expect(lines.count == 1 + 40 + 20, "\(lines)")
            let parts = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
            #expect(!parts.contains { $0.hasSuffix(".part") })

            let revealed = try await fixture.campaign("report", "spring", "--html", "-", "--reveal")
            #expect(revealed.status == 0 && revealed.output.contains("Secret {{first_name}}"))
            try await fixture.catchUp()
            #expect(fixture.records("notifications.audit").last?.json?["action"] as? String == "campaign.reveal")
        }
    }

    @Test("The list and the detail agree on a campaign: replayed, cancelled, expired or stopped")
    func oneTruth() async throws {
        let plan = Self.plan { $0.misbehaviour = [.status(400) { $0.pns = "gcm" }] }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            for name in ["replayed", "cancelled", "expired", "stopped"] {
                let more = name == "expired" ? ["expiresAt": Int64(Date.now.timeIntervalSince1970 * 1_000) - 1] : [:]
                try await fixture.publish(
                    try fixture.beginning(of: name, more: more) + fixture.events(of: name, 0..<10))
            }
            try await fixture.waitForResults(80)
            let seen = ["delivered": 10, "dead-lettered": 10]
            for name in ["cancelled", "expired", "stopped"] {
                try await fixture.publish([
                    try fixture.progress(of: name, recipients: 15, published: 12, end: "interrupted")
                ])
            }
            // Its publisher has ended before the replay.
            try await fixture.publish([
                try fixture.progress(of: "replayed", recipients: 10, published: 10, outcomes: seen)
            ])
            fixture.backend.misbehave([])
            #expect(try await fixture.dlq("replay", "--group", "campaign=replayed", "--yes").status == 0)
            #expect(try await fixture.campaign("cancel", "cancelled", "--yes").status == 0)

            let expected: [String: (state: String, delivered: Int, failed: Int, open: Int, unpublished: Int)] = [
                "replayed": ("finished", 20, 0, 0, 0), "cancelled": ("cancelled", 10, 10, 4, 6),
                "expired": ("expired", 10, 10, 4, 6), "stopped": ("stopped", 10, 10, 4, 6),
            ]
            let list = try await fixture.campaign("status", "-o", "jsonl")
            let objects = try list.output.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.count == 4)
            let table = try await fixture.campaign("status")
            for (name, wanted) in expected {
                let entry = try #require(objects.first { $0["name"] as? String == name })
                let outcomes = entry["outcomes"] as? [String: Int]
                #expect(entry["state"] as? String == wanted.state, "\(entry)")
                #expect(outcomes?["delivered"] == wanted.delivered && outcomes?["failed"] == wanted.failed)
                #expect(entry["open"] as? Int == wanted.open && entry["unpublished"] as? Int == wanted.unpublished)
                #expect(entry["finished"] as? Bool == (wanted.state == "finished"))
                // The list lacks members that only the detail reads, and contradicts it in none.
                let detail = try await fixture.campaignStatus(name)
                for (member, value) in entry where member != "publisher" {
                    #expect((detail[member] as? NSObject)?.isEqual(value) ?? false, "\(name): \(member)")
                }
                let cells = table.output.split(separator: "\n").first { $0.hasPrefix("\(name) ") }?
                    .split(separator: " ").prefix(10).map(String.init)
                #expect(
                    cells == [
                        name, wanted.state, name == "replayed" ? "20" : "30", "\(wanted.delivered)", "\(wanted.failed)",
                        "0", "0", "0", "\(wanted.open)", "\(wanted.unpublished)",
                    ], "\(table.output)")
            }
        }
    }

    private static func outcomes(delivered: Int, failed: Int, recovered: Int = 0) -> [String: Int] {
        [
            "delivered": delivered, "failed": failed, "expired": 0, "cancelled": 0, "recovered": recovered,
            "duplicate": 0, "suppressed": 0,
        ]
    }

    @Test("Events that wait for another call are retrying, and events that a pause holds back are suspended")
    func backlog() async throws {
        let plan = Self.plan {
            $0.settings["retry.delays"] = "[1h]"
            $0.misbehaviour = [.status(503) { $0.pns = "gcm" }]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.events(of: "spring", 0..<30))
            try await fixture.publish((0..<20).map { Publication(id: "o\($0)", user: "other-\($0)", pns: ["gcm"]) })
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 100, published: 30)])
            try await fixture.wait("all have failed once") { fixture.retries.count == 50 }
            let status = try await fixture.campaignStatus("spring")
            #expect(status["retrying"] as? Int == 30 && status["suspended"] as? Int == 0, "\(status)")

            let pause = try await fixture.campaign("pause", "spring", "--reason", "look first")
            #expect(pause.status == 0, "\(pause.output)")
            try await fixture.publish(fixture.events(of: "spring", 30..<50))
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 100, published: 50)])
            try await fixture.wait("the others are suspended") { fixture.retries.count == 70 }
            let paused = try await fixture.campaignStatus("spring")
            #expect(paused["retrying"] as? Int == 30 && paused["suspended"] as? Int == 40, "\(paused)")
            #expect(paused["waiting"] as? Int == 40 && paused["reason"] as? String == "look first")
        }
    }

    @Test("Workers follow pause, resume and cancel; each is audited, and impossible ones are refused")
    func controls() async throws {
        let plan = Self.plan {
            $0.settings["delivery.maxInFlight"] = "50"
            $0.settings["backend.timeout"] = "5m"
            $0.misbehaviour = [.hold()]
        }
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(try fixture.beginning(of: "spring") + fixture.events(of: "spring", 0..<100))
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 200, published: 100)])
            try await fixture.wait("it is under way") { fixture.backend.heldCount >= 50 }

            let pause = try await fixture.campaign("pause", "spring", "--reason", "the link is wrong")
            #expect(pause.status == 0 && pause.output.contains("was       running since"), "\(pause.output)")
            #expect(pause.output.contains("is        paused since") && pause.output.contains(": the link is wrong"))
            try await worker.waitForLog("campaign paused")
            let again = try await fixture.campaign("pause", "spring", "-o", "jsonl")
            #expect(again.status == 0 && again.output.contains(#""changed":false"#), "\(again.output)")
            #expect(try await fixture.campaignStatus("spring")["pauseIfFailures"] as? Double == 0.9)

            let resume = try await fixture.campaign("resume", "spring", "-o", "jsonl")
            #expect(resume.status == 0 && resume.output.contains(#""was":"paused","is":"running","changed":true"#))
            try await worker.waitForLog("campaign runs", count: 2)

            let asked = try await fixture.campaign("cancel", "spring")
            #expect(asked.status == 4 && asked.output.contains("add --yes"), "\(asked.output)")
            let cancel = try await fixture.campaign("cancel", "spring", "--yes", "--reason", "wrong audience")
            #expect(cancel.status == 0 && cancel.output.contains("is        cancelled since"), "\(cancel.output)")
            try await worker.waitForLog("campaign cancelled")
            let refused = try await fixture.campaign("resume", "spring")
            #expect(refused.status == 1 && refused.output.contains("was cancelled at"), "\(refused.output)")
            fixture.backend.misbehave([])
            try await fixture.waitForResults(200)
            try await fixture.catchUp()
            let audit = fixture.records("notifications.audit").compactMap(\.json)
                .sorted { ($0["at"] as? String ?? "") < ($1["at"] as? String ?? "") }
            #expect(audit.map { $0["action"] as? String } == ["campaign.pause", "campaign.resume", "campaign.cancel"])
            #expect(
                audit.allSatisfy { $0["selection"] as? String == "spring" && ($0["by"] as? String)?.isEmpty == false })
            #expect(audit.map { $0["reason"] as? String } == ["the link is wrong", nil, "wrong audience"])
        }
    }

    @Test("Mistakes have a status: an unknown name, a finished one, no place to write, a missing topic")
    func statuses() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(
                try fixture.beginning(of: "spring", pns: ["apns"]) + fixture.events(of: "spring", 0..<3, pns: ["apns"]))
            try await fixture.publish([try fixture.progress(of: "spring", recipients: 3, published: 3)])
            try await fixture.waitForResults(3)
            for words in [["status", "sprin"], ["pause", "sprin"]] {
                let run = try fixture.startTool(["campaign"] + words)
                #expect(try await run.waitForExit() == 1)
                #expect(run.output.contains("there is no campaign sprin; did you mean spring?"), "\(run.output)")
            }
            let label = try await fixture.campaign("status", "nightly-digest")
            #expect(label.output.contains("Events that others published with this label"), "\(label.output)")
            let late = try await fixture.campaign("cancel", "spring")
            #expect(late.status == 1 && late.output.contains("is finished: all of its 3 outcomes"), "\(late.output)")
            let unwritable = try await fixture.campaign("report", "spring", "--csv", "/nowhere/at/all.csv")
            #expect(unwritable.status == 1 && unwritable.output.contains("No such file"), "\(unwritable.output)")
            let missing = try await fixture.campaign("status", changing: ["topics.campaigns": "elsewhere"])
            #expect(missing.status == 1 && missing.output.contains("herald topics apply"), "\(missing.output)")
        }
    }

    @Test("Hostile texts in every field are shown as text, and damaged records are remarked")
    func hostileTexts() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish(try fixture.beginning(of: "spring", pns: [Self.hostile], by: Self.hostile))
            try await fixture.publish([
                try fixture.progress(of: "spring", recipients: 3, published: 1, by: Self.hostile),
                try fixture.campaignRecord(
                    "spring",
                    ["state": "paused", "at": Date.now.formatted(.iso8601), "by": Self.hostile, "reason": Self.hostile]),
                try fixture.campaignRecord("\(Self.hostile)/definition", [:]),
                try fixture.campaignRecord("autumn/progress", ["recipients": Self.hostile]),
            ])
            let page = fixture.directory.appending(path: "hostile.html")
            for words in [["status"], ["resume", "spring"], ["report", "spring", "--html", page.path]] {
                let run = try fixture.startTool(["campaign"] + words)
                #expect(try await run.waitForExit() == 0, "\(run.output)")
                #expect(!run.output.contains("\u{1B}") && !run.output.contains("\u{202E}"), "\(words): \(run.output)")
                #expect(run.output.contains("Ignored: the record"), "\(words): \(run.output)")
            }
            let html = try String(contentsOf: page, encoding: .utf8)
            #expect(!html.contains("<script") && !html.contains("\u{1B}") && html.contains("&lt;script&gt;"))
        }
    }

    @Test("A changing command waits for an open transaction's end, and sees its records")
    func openTransaction() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let (definition, servers, topic) = (
                try fixture.beginning(of: "spring"), fixture.bootstrapServers, fixture.topic("notifications.campaigns")
            )
            let producer = try await Blocking.run {
                let producer = try Producer(properties: [
                    ("bootstrap.servers", servers), ("transactional.id", topic), ("transaction.timeout.ms", "600000"),
                ])
                try producer.initTransactions(timeout: Patience.timeout)
                try producer.beginTransaction()
                for record in definition { try producer.publish(record, to: producer.topic(topic)) }
                try producer.flush(timeout: Patience.timeout) { _, _ in }
                return producer
            }
            let pause = try fixture.startTool(["campaign", "pause", "spring"])
            let look = try await fixture.campaign("status", "spring")
            #expect(look.status == 1, "what is not committed is not there for who only looks")
            #expect(pause.isRunning)
            try await Blocking.run {
                try producer.commitTransaction(timeout: Patience.timeout)
                producer.close()
            }
            #expect(try await pause.waitForExit() == 0, "\(pause.output)")
            #expect(pause.output.contains("was       running since"))
        }
    }

    private static let terminal = ["/bin/sh", "-c", #"exec script -qec "stty cols 80 rows 24; $*" /dev/null"#, "sh"]

    @Test("On a terminal, status continues until the campaign is finished, and restores the terminal")
    func live() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish(
                try fixture.beginning(of: "spring") + [
                    try fixture.progress(of: "spring", recipients: 40, published: 40)
                ])
            let watch = try fixture.startTool(["campaign", "status", "spring"], under: Self.terminal)
            try await fixture.wait("it is shown") { watch.output.contains("Ctrl-C ends") }
            #expect(watch.output.contains("\u{1B}[?25l"))
            _ = try await fixture.startWorker()
            try await fixture.publish(fixture.events(of: "spring", 0..<40))
            #expect(try await watch.waitForExit() == 0, "\(watch.output)")
            #expect(watch.output.contains("finished") && watch.output.hasSuffix("\u{1B}[?25h"))
        }
    }

    @Test("A status that dies restores the terminal, and --once does not change it")
    func diesOnTerminal() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            try await fixture.publish(
                try fixture.beginning(of: "autumn") + [try fixture.progress(of: "autumn", recipients: 9, published: 1)])
            // Like a trap: an end that the program does not choose.
            let trapped = try fixture.startTool(["campaign", "status", "autumn"], under: Self.terminal)
            try await fixture.wait("it is shown") { trapped.output.contains("Ctrl-C ends") }
            kill(try #require(trapped.descendant(named: "herald")), SIGILL)
            try await fixture.wait("the terminal is given back") {
                trapped.output.contains("\u{1B}[J\u{1B}[?7h\u{1B}[?25h")
            }
            trapped.kill()
            let once = try fixture.startTool(["campaign", "status", "autumn", "--once"], under: Self.terminal)
            #expect(try await once.waitForExit() == 0 && !once.output.contains("\u{1B}[?25l"), "\(once.output)")
        }
    }
}
