import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Reports on a campaign's people", .realKafka("Reports on a campaign's people"), .hangLimit)
struct CampaignPeopleTests {
    @Test("After a cancellation the report names the reached users, and a list all others with the reason")
    func cancelled() async throws {
        let plan = CampaignPublishTests.plan {
            $0.settings["retry.delays"] = "[1s, 1h]"
            $0.misbehaviour = [.status(400) { $0.user = "user-1" }, .status(503) { $0.user = "user-2" }]
        }
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let audience = try fixture.audience(30)
            let run = try fixture.startTool(
                fixture.startWords(audience, ["--ramp", "10", "--pause-if-failures", "15%"]))
            try await fixture.wait("the step is published") { fixture.count("notifications.bulk") == 10 }
            let isKnown = try await eventually {
                let status = try await fixture.campaignStatus("spring")
                return (status["rampWait"] as? [String: Any])?["retrying"] as? Int == 1
            }
            #expect(isKnown)
            #expect(try await fixture.campaign("cancel", "spring", "--yes").status == 0)
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            #expect(
                run.output.contains("10 of 30 recipients published: of 10 notifications 8 delivered, 1 failed, 1 "),
                "\(run.output)")
            let list = try await fixture.campaign("report", "spring", "--not-reached", "-", "--audience", audience)
            #expect(list.status == 0, "\(list.output)")
            let rows = list.output.split(separator: "\r\n").filter { $0.hasPrefix("user-") }
            #expect(rows.count == 22 && Set(rows).count == 22, "\(list.output)")
            func isListed(_ number: Int, _ why: String) -> Bool {
                rows.contains { $0.hasPrefix("user-\(number),\"Name, \(number)\",\(why),") }
            }
            #expect(isListed(1, "failed,apns,rejected,400"), "\(list.output)")
            // Cancelled as soon as a worker has taken it from its retry topic, and open before.
            #expect(isListed(2, "no outcome yet") || isListed(2, "cancelled,apns"), "\(list.output)")
            #expect(rows.count { $0.hasSuffix(",never published,apns,,,,,") } == 20)
            #expect(list.output.contains("8 people were reached; 22 who were not are in the list."), "\(list.output)")
            #expect(list.output.contains("has 30 lines: 8 people were reached, 22 were not."), "\(list.output)")
            let missed = try await fixture.campaign("report", "spring", "--not-delivered", "-", "--audience", audience)
            #expect(missed.output.contains("user-1,\"Name, 1\",failed,apns,rejected,400,"), "\(missed.output)")
            let other = URL(fileURLWithPath: try fixture.audience(30, name: "other.csv"))
            try String(contentsOf: other, encoding: .utf8).replacing("user-", with: "other-")
                .write(to: other, atomically: true, encoding: .utf8)
            for list in ["--not-reached", "--not-delivered"] {
                let refused = try await fixture.campaign("report", "spring", list, "-", "--audience", other.path)
                #expect(
                    refused.status == 1 && !refused.output.contains("other-1")
                        && refused.output.contains("30 of 30 recipients of this file were never published"),
                    "\(refused.output)")
            }
            let left = fixture.directory.appending(path: "left.csv")
            #expect(
                try await fixture.campaign("report", "spring", "--not-reached", left.path, "--audience", audience)
                    .status == 0)
            fixture.backend.misbehave([])
            var again = fixture.startWords(left.path)
            again[try #require(again.firstIndex(of: "spring"))] = "summer"
            let second = try fixture.startTool(again)
            #expect(try await second.waitForExit() == 0, "\(second.output)")
            #expect(
                second.output.contains("22 people") || second.output.contains("22: 22 published"), "\(second.output)")
            let page = fixture.directory.appending(path: "spring.html")
            let report = try await fixture.campaign("report", "spring", "--html", page.path, "--not-reached", "-")
            #expect(report.output.contains("It lacks 20 recipients who were never published"), "\(report.output)")
            let html = try String(contentsOf: page, encoding: .utf8)
            #expect(html.contains("8 of 30 people were reached</strong>") && html.contains("Cancelled since"))
        }
    }

    @Test("An ended campaign is over at once: in its last output, its status, its orders; people can be added")
    func finished() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(fixture.startWords(try fixture.audience(3), pns: "apns,gcm"))
            #expect(try await first.waitForExit() == 0, "\(first.output)")
            #expect(first.output.contains("recipients     3: 3 published, 3 of them by this run"), "\(first.output)")
            #expect(first.output.contains("notifications  6: 6 delivered, 0 failed, 0 open, 0 not published"))
            let status = try await fixture.campaignStatus("spring")
            #expect(status["state"] as? String == "finished")
            let publisher = try #require(status["publisher"] as? [String: Any])
            #expect(publisher["alive"] as? Bool == false && publisher["end"] as? String == "complete")
            let (since, start) = (status["since"] as? String ?? "", status["startedAt"] as? String ?? "")
            #expect(since > start && status["by"] == nil, "\(status)")
            let resume = try await fixture.campaign("resume", "spring")
            #expect(resume.status == 0 && resume.output.contains("Campaign spring is finished"), "\(resume.output)")
            #expect(!resume.output.contains("running"), "\(resume.output)")

            let more = fixture.startWords(try fixture.audience(5, name: "more.csv"), pns: "apns,gcm")
            let second = try fixture.startTool(more)
            #expect(try await second.waitForExit() == 0 && fixture.backend.calls.count == 10, "\(second.output)")
            #expect(second.output.contains("2 recipients are added to the 3 that it had"), "\(second.output)")
            let grown = try await fixture.campaignStatus("spring")
            let addition = try #require((grown["additions"] as? [[String: Any]])?.first)
            #expect(addition["recipients"] as? Int == 2 && grown["recipients"] as? Int == 5)
            #expect((grown["replacedAudiences"] as? [Any])?.isEmpty == true && grown["state"] as? String == "finished")
            let page = try await fixture.campaign("status", "spring", "--once")
            #expect(page.output.contains("2 recipients added at "), "\(page.output)")
            // A start that finds no users left changes nothing and needs no confirmation.
            let third = try fixture.startTool(more.filter { $0 != "--yes" })
            #expect(try await third.waitForExit() == 0, "\(third.output)")
            #expect(third.output.contains("the campaign is finished: nobody is left to notify"), "\(third.output)")
            #expect(try await fixture.campaignStatus("spring")["since"] as? String == grown["since"] as? String)
        }
    }

    @Test("A publisher whose campaign a worker has paused knows the failures up to then")
    func pausedByWorker() async throws {
        let plan = CampaignPublishTests.plan { $0.misbehaviour = [.status(400) { $0.user = "user-*1" }] }
        try await Fixture.run(plan) { fixture in
            let words = fixture.startWords(try fixture.audience(3_000), ["--pause-if-failures", "5%", "-o", "jsonl"])
            let run = try fixture.startTool(words)
            try await fixture.wait("all are published") { fixture.count("notifications.bulk") == 3_000 }
            _ = try await fixture.startWorker()
            #expect(try await run.waitForExit() == 3, "\(run.output)")
            let line = try #require(run.output.split(separator: "\n").last { $0.hasPrefix("{") })
            let end = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(end["end"] as? String == "paused" && end["failed"] as? Int ?? 0 > 10, "\(line)")
            let known = (end["failed"] as? Int ?? 0) + (end["delivered"] as? Int ?? 0)
            #expect(known >= 200 && known + (end["open"] as? Int ?? 0) == 3_000, "\(line)")
        }
    }
}
