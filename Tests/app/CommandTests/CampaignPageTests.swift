import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import herald

@Suite("The picture of a campaign's status")
struct CampaignPageTests {
    private static let start: Int64 = 1_795_284_000_000
    private static let hostile = "\u{1B}[2J\u{202E}ann\n"

    private func status(
        _ outcomes: [String: Int], recipients: Int = 1_000, published: Int = 800, isComplete: Bool = false,
        by author: String = "ann@web1", after seconds: Int64 = 3, pausedBecause cause: String? = nil
    ) throws -> CampaignStatus {
        var index = CampaignIndex()
        func add(_ key: String, _ value: String) {
            index.add(key: Array(key.utf8), value: Array(value.utf8), place: "0:0")
        }
        let name = author.replacing("\u{1B}", with: "\\u001b").replacing("\n", with: "\\n")
        add(
            "spring/definition",
            #"{"name":"spring","message":"Secret","pns":["apns"],"topic":"bulk","startedAt":\#(Self.start),"startedBy":"\#(name)","#
                + #""requestOffsets":{},"resultOffsets":{}}"#)
        add(
            "spring/progress",
            #"{"recipients":\#(recipients),"published":\#(published),"repeats":0,"invalid":0,"isComplete":\#(isComplete),"#
                + #""at":\#(Self.start),"by":"\#(name)","outcomes":{},"resultOffsets":{}}"#)
        let control = CampaignControl(
            state: cause == nil ? .running : .paused, at: WallTime(milliseconds: Self.start), by: author,
            reason: cause ?? author)
        index.add(key: CampaignControl.key(of: "spring"), value: control.encoded(), place: "0:1")
        return CampaignStatus(
            campaign: try #require(index.campaign("spring")), count: OutcomeCount(snapshot: outcomes),
            backlog: RetryBacklog.Count(), now: WallTime(milliseconds: Self.start + seconds * 1_000))
    }

    private func lines(_ status: CampaignStatus, width: Int = 100) -> [String] {
        CampaignPage(status: status, width: width) { text, _ in text }.lines
    }

    @Test("The suggested command names the settings file in use")
    func settingsFile() throws {
        let page = CampaignPage(
            status: try status(["delivered": 300, "dead-lettered": 3]), configuration: "h.yaml", width: 120
        ) { text, _ in text }
        let line = "herald dlq list --where \"campaign = 'spring'\" --config h.yaml"
        #expect(page.lines.contains { $0.hasSuffix(line) }, "\(page.lines)")
    }

    @Test("A recalled campaign says since when, by whom and why, what was suppressed, and no time left")
    func recalled() throws {
        var status = try status(["delivered": 300, "suppressed": 24, "recalled": 24])
        status.recall = Recall(at: WallTime(milliseconds: Self.start), by: "ops", reason: "wrong link")
        let since = RFC3339.text(WallTime(milliseconds: Self.start))
        let text = lines(status, width: 300).joined(separator: "\n")
        #expect(
            text.contains(
                "recalled since \(since) by ops: wrong link; 24 notifications were suppressed so far, and what still waits "
                    + "ends as suppressed; its publisher goes on until it is cancelled"), "\(text)")
        #expect(text.hasPrefix("spring  running") && status.secondsLeft == nil && status.wait == nil)
        #expect(status.json()["recalled"]?["by"] == "ops")
    }

    @Test("No line is wider than the terminal, for any content", arguments: [20, 40, 79, 80, 120, 200])
    func width(columns: Int) throws {
        for author in ["ann@web1", String(repeating: "名", count: 200), Self.hostile] {
            for line in lines(try status(["delivered": 300, "dead-lettered": 3], by: author), width: columns) {
                #expect(line.displayWidth <= columns, "\(line)")
            }
        }
    }

    @Test("The reason for a pause is printed whole, even on a narrow page", arguments: [60, 100, 200])
    func cause(columns: Int) throws {
        let cause = "its notifications are rejected: 200 of a worker's latest 200 calls with status 404"
        let page = lines(
            try status(["delivered": 3], by: "worker 3h35kt1kbs60r on web2", pausedBecause: cause), width: columns)
        #expect(page.map { $0.trimmingPrefix("  ") }.joined(separator: " ").contains(cause), "\(page)")
        #expect(page.allSatisfy { $0.displayWidth <= columns })
    }

    @Test("The outcomes of notifications behind a hub, if known, are in a line and in JSON")
    func feedback() throws {
        let status = try status(["delivered": 998_412], recipients: 1_000_000, published: 1_000_000)
        #expect(!lines(status).contains { $0.contains("taken by the backend") })
        #expect(status.json()["feedback"] == nil)
        var feedback = FeedbackCount()
        for number in 0..<1_210 {
            let outcomes =
                switch number % 121 {
                case ..<100: #"{"Success":2}"#
                case ..<120: "{}"
                default: #"{"BadChannel":1}"#
                }
            guard
                case .notification(let record) = try FeedbackRecord(
                    decoding: Array(
                        """
                        {"type":"notification","backendId":"NH","conclusion":"final","outcomes":\(outcomes),\
                        "reached":0,\
                        "sentAt":"2026-11-21T08:40:26Z","checkedAt":"2026-11-21T08:40:26Z",\
                        "origin":{"topic":"n","partition":0,"offset":0}}
                        """.utf8))
            else { continue }
            feedback.add(record)
        }
        let page = CampaignPage(status: status, feedback: feedback, width: 200) { text, _ in text }
        #expect(
            page.lines.contains(
                "taken by the backend 998 412; reached a push service 1 000; nobody to reach 200; "
                    + "refused by push services or the hub 10; not known yet 997 202"))
        let narrow = CampaignPage(status: status, feedback: feedback, width: 80) { text, _ in text }
        #expect(
            narrow.lines.contains("taken by the backend 998 412; reached a push service 1 000; nobody to reach 200"))
        #expect(narrow.lines.contains("refused by push services or the hub 10; not known yet 997 202"))
        let object = status.json(feedback)["feedback"]
        #expect(object?["reached"] == .integer(1_000) && object?["nobody"] == .integer(200))
        #expect(object?["open"] == .integer(997_202) && object?["devices"]?["Success"] == .integer(2_000))
    }

    @Test("The bar shows every part, in proportion, and is never full before the end")
    func bar() throws {
        let page = lines(try status(["delivered": 700, "dead-lettered": 1], published: 999))
        let bar = try #require(page.first { $0.hasPrefix("█") && !$0.contains("delivered") })
        #expect(bar.hasSuffix("70.1%"))
        #expect(bar.count { $0 == "█" } == 49 && bar.count { $0 == "▒" } == 1 && bar.count { $0 == "·" } == 1)
        #expect(bar.count { "█▒░·".contains($0) } == 72)
        let nearly = lines(try status(["delivered": 999_999], recipients: 1_000_000, published: 1_000_000))
        #expect(nearly.contains { $0.hasSuffix("  99.9%") })
        let whole = lines(try status(["delivered": 1_000], published: 1_000, isComplete: true))
        #expect(whole.contains { $0.hasSuffix("  100.0%") } && whole.first == "spring  finished")
    }

    @Test("It names the place of failures, and the next step when no publisher is running")
    func advice() throws {
        let silent = lines(try status(["delivered": 300, "dead-lettered": 3], after: 60))
        #expect(silent.contains { $0.contains("herald dlq list --where \"campaign = 'spring'\"") })
        #expect(silent.contains { $0.contains("nobody publishes the rest") })
        #expect(silent.contains { $0.contains("start it again with the same audience") })
        let heard = lines(try status(["delivered": 300]))
        #expect(heard.contains("publisher ann@web1, last report 3 s ago") && !heard.contains { $0.contains("nobody") })
        #expect(!silent.contains { $0.contains("Secret") })
    }

    @Test("Hostile texts are escaped, in lines and in JSON")
    func hostileTexts() throws {
        let status = try status(["delivered": 1], by: Self.hostile)
        for text in lines(status) + [status.json().compact] {
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("\n"))
        }
        #expect(lines(status).first?.contains(#"by \u{1B}[2J\u{202E}ann\n"#) == true)
    }

    @Test(
        "Durations, numbers and rates are short",
        arguments: [(0.2, "1 s"), (99, "99 s"), (100, "2 min"), (7_500, "2 h 5 min"), (200_000, "2 d 7 h")])
    func durations(seconds: Double, text: String) {
        #expect(CampaignWords.duration(seconds) == text)
        #expect(CampaignWords.duration(.infinity) == "years" && CampaignWords.duration(1e12) == "years")
        #expect(CampaignWords.number(1_234_567) == "1 234 567" && CampaignWords.number(999) == "999")
        #expect(CampaignWords.rate(1_234.2) == "1 234/s")
        #expect(CampaignWords.rate(2.44) == "2.4/s")
    }
}
