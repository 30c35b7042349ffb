import Foundation
import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCampaigns

@Suite("Reports of campaigns")
struct ReportTests {
    private static let now = WallTime(milliseconds: Samples.start + 3_600_000)
    /// What terminals, browsers and spreadsheets would act upon.
    private static let hostile = "\u{1B}[31m\u{202E}<script>alert('1')</script>&\"=1+1\n"

    private func page(
        _ report: CampaignReport, _ definition: CampaignDefinition = Samples.definition(), isRevealed: Bool = false,
        by author: String = "ann@web1", feedback: FeedbackCount? = nil, deletedCount: Int64 = 0
    ) -> String {
        var campaign = Samples.campaign()
        campaign.definition = definition
        campaign.control = Samples.control(.paused, by: author, reason: author)
        campaign.progress?.isComplete = false
        return ReportPage(
            campaign, definition, report, now: Self.now, isRevealed: isRevealed, feedback: feedback,
            deletedCount: deletedCount
        ).html
    }

    private func feedback(
        _ conclusion: String, _ state: String?, _ outcomes: [String: Int]
    ) throws -> NotificationFeedback {
        let result = try NotificationResult(
            decoding: Samples.bytes(
                """
                {"pns":"apns","outcome":"delivered","backendId":"NH","completedAt":"2026-11-21T08:40:26Z",\
                "campaign":"spring","origin":{"topic":"n","partition":0,"offset":0}}
                """))
        return NotificationFeedback(
            on: result, backendID: "NH", conclusion: try #require(.init(rawValue: conclusion)), state: state,
            outcomes: outcomes, checkedAt: Self.now)
    }

    @Test("Each notification behind a hub is counted in one way, and its devices by the hub's outcomes")
    func devices() throws {
        var count = FeedbackCount()
        let all: [(String, String?, [String: Int])] = [
            ("final", "Completed", ["Success": 2, "BadChannel": 1]), ("too-old", "Processing", ["Success": 1]),
            ("final", "NoTargetFound", [:]), ("final", "Completed", ["NoTargets": 1]), ("final", "Completed", [:]),
            ("final", "Completed", ["ExpiredChannel": 1, "NoTargets": 1]), ("final", "Abandoned", [:]),
            ("too-old", "Enqueued", [:]), ("unknown", nil, [:]),
        ]
        for (conclusion, state, outcomes) in all { count.add(try feedback(conclusion, state, outcomes)) }
        #expect(count.reached == 2 && count.nobody == 3 && count.refused == 2 && count.untold == 2)
        #expect(count.known == all.count && count.open(of: 12) == 3 && count.open(of: 5) == 0)
        #expect(count.devices == ["Success": 3, "BadChannel": 1, "NoTargets": 2, "ExpiredChannel": 1])

        var report = CampaignReport(Samples.definition(), now: Self.now)
        for number in 0..<12 { report.add(try Samples.result("delivered", user: "u\(number)")) }
        #expect(!page(report).contains("Behind the hub"))
        let html = page(report, feedback: count)
        #expect(html.contains("Of 12 notifications that the hub has taken."))
        for cells in [["reached a push service", "2"], ["nobody to reach", "3"], ["not known yet", "3"]] {
            #expect(html.contains("<td>\(cells[0])</td><td class=\"n\">\(cells[1])</td>"), "\(cells)")
        }
        #expect(html.contains("<td>Success</td><td class=\"n\">3</td>"))
    }

    @Test("Spans grow with the time and lose nothing")
    func timeline() {
        var timeline = OutcomeTimeline()
        var expected = 0
        for second in stride(from: Int64(0), through: 400_000, by: 37) {
            timeline.add(at: WallTime(milliseconds: Samples.start + second * 1_000)) { $0.delivered += 1 }
            expected += 1
            #expect(timeline.all.count <= 120)
        }
        #expect(timeline.secondsPerSpan == 3_600)
        #expect(timeline.all.reduce(0) { $0 + $1.span.delivered } == expected)
        // Before the first, too, and before 1970.
        timeline.add(at: WallTime(milliseconds: -86_400_000)) { $0.failed += 1 }
        #expect(timeline.all.count <= 121 && timeline.all.first?.span.failed == 1)
        #expect(timeline.all.reduce(0) { $0 + $1.span.total } == expected + 1)
    }

    @Test("Spans follow each other without gaps")
    func gaps() {
        var timeline = OutcomeTimeline()
        for second in [Int64(0), 3, 4] {
            timeline.add(at: WallTime(milliseconds: Samples.start + second * 1_000 + 999)) { $0.ended += 1 }
        }
        #expect(timeline.all.map(\.span.ended) == [1, 0, 0, 1, 1])
        #expect(timeline.all.first?.start == WallTime(milliseconds: Samples.start))
        #expect(OutcomeTimeline().all.isEmpty)
    }

    @Test("Failures are counted by reason, status and push service, the most frequent first, in bounded memory")
    func failures() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for _ in 0..<3 { report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400)) }
        report.add(try Samples.result("dead-lettered", pns: nil, reason: "invalid"))
        report.add(try Samples.result("expired", pns: "gcm"))
        report.add(try Samples.result("delivered", pns: "gcm"))
        let failures = report.sortedFailures
        #expect(failures.map(\.count) == [3, 2, 1])
        #expect(failures.first?.failure.status == 400 && failures.last?.failure.outcome == .expired)
        for number in 0..<1_000 {
            report.add(try Samples.result("dead-lettered", pns: "service-\(number)", reason: "rejected"))
        }
        #expect(report.failures.count == 500 && report.otherFailures == 503)
    }

    @Test("Tables have shares, fit a telephone, and a share is never rounded to all or nothing")
    func shares() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        for _ in 0..<2 { report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400)) }
        report.add(try Samples.result("expired", pns: "gcm"))
        report.add(try Samples.result("delivered", pns: "gcm"))
        let html = page(report)
        // Of 100 recipients for two push services.
        #expect(html.contains(#"<tr><td>delivered</td><td class="n">1</td><td class="n">0.5%</td></tr>"#), "\(html)")
        #expect(
            html.contains(#"<td class="n">2</td><td class="n">66.6%</td><td class="bar">"#) || html.contains("66.7%"))
        #expect(html.contains("@media (max-width: 40rem)") && html.contains(".bar { display: none; }"))
        #expect(
            html.components(separatedBy: #"<div class="wide"><table>"#).count
                == html.components(separatedBy: "<table>").count)
        for _ in 0..<4_000 { report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400)) }
        #expect(page(report).contains(">99.9%<") && page(report).contains(">0.1%<"))
    }

    @Test("What a replay has delivered is known by event and push service")
    func recovered() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        let failure = try Samples.result("dead-lettered", user: "u1", reason: "rejected")
        report.add(failure)
        #expect(!report.isRecovered(failure))
        report.add(try Samples.result("delivered", user: "u1", pns: "apns", replays: 1))
        #expect(report.isRecovered(failure))
        #expect(!report.isRecovered(try Samples.result("dead-lettered", user: "u1", pns: "gcm")))
        #expect(!report.isRecovered(try Samples.result("dead-lettered", user: "u2", pns: "apns")))
        #expect(page(report).contains("of these by a replay"))
    }

    @Test("Moments that no clock of the campaign can have shown are counted and not drawn")
    func oddClocks() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        report.add(try Samples.result("delivered", at: 0))
        report.add(try Samples.result("delivered", at: 200_000_000_000_000))
        report.add(try Samples.result("delivered"))
        #expect(report.count.delivered == 3 && report.timeline.all.count == 1)
    }

    @Test("The page needs nothing from elsewhere and runs nothing")
    func selfContained() throws {
        var report = CampaignReport(Samples.definition(), now: Self.now)
        report.add(try Samples.result("delivered"))
        report.add(try Samples.result("dead-lettered", reason: "rejected", status: 400))
        let html = page(report, deletedCount: 12)
        for forbidden in ["<script", "http:", "https:", "src=", "href", "url(", "@import", " on"] {
            let found = html.replacing("http-equiv", with: "").contains(forbidden + (forbidden == " on" ? "click" : ""))
            #expect(!found, "\(forbidden)")
        }
        #expect(html.contains("default-src 'none'") && html.contains("prefers-color-scheme: dark"))
        #expect(html.contains(#"<svg viewBox="0 0 720 240" role="img""#) && html.contains("<title id="))
        #expect(html.contains("12 results, of this campaign or others, were deleted"))
        #expect(html.contains("rejected") && html.contains(">400<"))
        #expect(page(CampaignReport(Samples.definition(), now: Self.now)).contains("There is no outcome yet."))
    }

    @Test("Hostile texts are text in the page, and the message is only there when it is asked for")
    func hostileTexts() throws {
        var definition = Samples.definition(pns: [Self.hostile])
        definition.message = "Secret \(Self.hostile)"
        definition.startedBy = Self.hostile
        definition.topic = Self.hostile
        var report = CampaignReport(definition, now: Self.now)
        var failure = try Samples.result("dead-lettered", reason: "rejected")
        failure.pushService = Self.hostile
        report.add(failure)
        for isRevealed in [false, true] {
            let html = page(report, definition, isRevealed: isRevealed, by: Self.hostile)
            #expect(!html.contains("<script") && !html.contains("\u{1B}") && !html.contains("\u{202E}"))
            #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;=1+1"))
            #expect(html.contains("Secret") == isRevealed)
        }
    }

    @Test("Hostile texts in a row do nothing in a spreadsheet")
    func rows() throws {
        var result = try Samples.result("dead-lettered", reason: "rejected", status: 400)
        result.id = "=cmd|' /C calc'!A0"
        result.user = "@\u{1B}[2J\u{202E},\"x\"\r\n"
        result.pushService = "+1"
        let line = ResultRow.line(result)
        #expect(
            line.hasPrefix(
                "'=cmd|' /C calc'!A0,\"'@\\u{1B}[2J\\u{202E},\"\"x\"\"\\r\\n\",'+1,dead-lettered,rejected,400,"))
        #expect(line.hasSuffix("notifications.bulk/0/1\r\n") && line.filter { $0 == "\r\n" }.count == 1)
        #expect(ResultRow.heading.split(separator: ",").count == 11)
    }
}
