import Foundation
import TestSupport
import Testing

@Suite("Campaigns that leave people out", .realKafka("Campaigns that leave people out"), .hangLimit)
struct CampaignExclusionTests {
    @Test(
        "Who was delivered before, or is in a file, is left out, also after a publisher was killed"
    )
    func leavesOut() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            _ = try await fixture.startWorker()
            var winter = fixture.startWords(try fixture.audience(10, name: "winter.csv"))
            winter[try #require(winter.firstIndex(of: "spring"))] = "winter"
            #expect(try await fixture.startTool(winter).waitForExit() == 0)
            let staff = fixture.directory.appending(path: "staff.csv")
            try "user;x\nuser-9;1\nuser-10;1\nuser-11;1\nuser-90;1\n".write(
                to: staff, atomically: true, encoding: .utf8)
            let exclusions = ["--exclude", staff.path, "--exclude-campaign", "winter", "--exclude-delivered", "1h"]
            let audience = try fixture.audience(40)
            let preview = try fixture.startTool(fixture.startWords(audience, exclusions + ["--dry-run"]))
            #expect(try await preview.waitForExit() == 0, "\(preview.output)")
            let sum =
                "40 lines = 28 recipients + 3 excluded by staff.csv + 9 delivered by winter + 0 delivered within 1h"
            #expect(preview.output.contains(sum), "\(preview.output)")
            // It is killed in the middle; meanwhile somebody of the rest is delivered.
            let first = try fixture.startTool(
                fixture.startWords(audience, exclusions + ["--ramp", "5", "--rate", "4/s"]))
            try await fixture.wait("some are published") { fixture.publishedCounts().count >= 16 }
            first.kill()
            let autumn = fixture.directory.appending(path: "autumn.csv")
            try "user,first_name\nuser-38,A\nuser-39,B\n".write(to: autumn, atomically: true, encoding: .utf8)
            var other = fixture.startWords(autumn.path)
            other[try #require(other.firstIndex(of: "spring"))] = "winter"
            let adding = try fixture.startTool(other + ["--add-people"])
            #expect(try await adding.waitForExit() == 0, "\(adding.output)")
            let refused = try fixture.startTool(fixture.startWords(audience))
            #expect(try await refused.waitForExit() == 1, "\(refused.output)")
            #expect(
                refused.output.contains(
                    "it leaves people out (excluded by staff.csv, delivered by winter, delivered within 1h)"),
                "\(refused.output)")
            let second = try fixture.startTool(fixture.startWords(audience, exclusions))
            #expect(try await second.waitForExit() == 0, "\(second.output)")
            #expect(second.output.contains(sum) && second.output.contains("nobody is new"), "\(second.output)")
            let published = fixture.publishedCounts().filter { $0.value > 0 }
            // winter's ten and two, and spring's: of 38 and 39 both.
            #expect(
                Set(published.keys) == Set((0..<40).map { "user-\($0)" }.filter { $0 != "user-10" && $0 != "user-11" }))
            #expect(published.filter { $0.value == 2 }.keys.sorted() == ["user-38", "user-39"], "\(published)")
            let status = try await fixture.campaignStatus("spring")
            #expect(status["excluded"] as? Int == 12 && status["recipients"] as? Int == 28, "\(status)")
            let list = try await fixture.campaign("report", "spring", "--not-reached", "-", "--audience", audience)
            #expect(list.output.components(separatedBy: ",excluded,apns,").count == 13, "\(list.output)")
            #expect(
                list.output.contains("has 40 lines: 28 people were reached, 0 were not; 12 were left out."),
                "\(list.output)")
        }
    }

    @Test("An unknown campaign, a file without users, and an audience of which nobody remains are refused")
    func refusals() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            let audience = try fixture.audience(3)
            let empty = fixture.directory.appending(path: "empty.csv")
            try "user\n".write(to: empty, atomically: true, encoding: .utf8)
            let all = try fixture.audience(3, name: "all.csv")
            for (words, said, status) in [
                (
                    ["--exclude-campaign", "wintre"], "there is no campaign \"wintre\" whose people could be left out",
                    1
                ),
                (["--exclude-campaign", "spring"], "cannot leave out who was delivered by itself", 1),
                (["--exclude", empty.path], "has no users who could be left out", 1),
                (["--exclude", all], "nobody remains: all 3 people of the audience are left out", 1),
                (["--exclude", audience], "is the audience itself", 2),
            ] as [([String], String, Int32)] {
                let run = try fixture.startTool(fixture.startWords(audience, words))
                #expect(try await run.waitForExit() == status && run.output.contains(said), "\(run.output)")
            }
            #expect(fixture.count("notifications.bulk") == 0)
        }
    }

    @Test("A test reaches its users at once with the campaign's texts, and no campaign exists afterwards")
    func first() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            _ = try await fixture.startWorker()
            let audience = try fixture.audience(3)
            let words = ["--audience", audience, "--message", "Hi {{first_name}}", "--pns", "apns,gcm"]
            let test = try fixture.startTool(["campaign", "test", "--to", "user-1,me"] + words)
            #expect(try await test.waitForExit() == 0, "\(test.output)")
            #expect(test.output.contains("get the texts of user-0"), "\(test.output)")
            #expect(test.output.split(separator: "\n").count { $0.contains(" delivered ") } == 4, "\(test.output)")
            let texts = fixture.records("notifications.bulk").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            #expect(texts.count == 2 && !texts.contains { $0.contains("\"campaign\"") }, "\(texts)")
            #expect(texts.contains { $0.contains("Hi Name, 1") } && texts.contains { $0.contains("Hi Name, 0") })
            #expect(fixture.count("notifications.campaigns") == 0)
            let audit = fixture.records("notifications.audit").map { String(decoding: $0.value ?? [], as: UTF8.self) }
            #expect(audit.count == 1 && audit[0].contains("campaign.test"), "\(audit)")
            let quick = try fixture.startTool(["campaign", "test", "--to", "me", "--no-wait"] + words)
            #expect(try await quick.waitForExit() == 0, "\(quick.output)")
        }
    }
}
