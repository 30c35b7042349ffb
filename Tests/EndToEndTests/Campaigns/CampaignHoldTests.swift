import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Campaigns that wait for their operator", .realKafka("Campaigns with holds"), .hangLimit)
struct CampaignHoldTests {
    /// Waits until it is said that the campaign waits, and so many are published.
    private static func wait(_ fixture: Fixture, at count: Int) async throws {
        try await fixture.wait("so many are published") { fixture.count("notifications.bulk") == count }
        let isSaid = try await eventually {
            let status = try await fixture.campaignStatus("spring")
            return status["state"] as? String == "waiting for you" && status["published"] as? Int == count
        }
        #expect(isSaid)
        #expect(fixture.count("notifications.bulk") == count)
    }

    @Test("A publisher that is killed at a hold goes on from it only with a go, and notifies nobody twice")
    func kills() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            let count = 60
            let words = fixture.startWords(try fixture.audience(count), ["--hold-after", "10,40"])
            _ = try await fixture.startWorker()
            let first = try fixture.startTool(words)
            try await Self.wait(fixture, at: 10)
            #expect(first.output.contains("10 recipients are published, and it waits for you"), "\(first.output)")
            first.kill()
            let second = try fixture.startTool(words)
            try await fixture.wait("it waits again") { second.output.contains("and it waits for you") }
            #expect(fixture.count("notifications.bulk") == 10)
            let go = try await fixture.campaign("resume", "spring")
            #expect(go.status == 0 && go.output.contains("was       waiting for you"), "\(go.output)")
            #expect(go.output.contains("It goes on with the next 30, and waits for you again."), "\(go.output)")
            try await Self.wait(fixture, at: 40)
            second.kill()
            let last = try await fixture.campaign("resume", "spring")
            #expect(last.output.contains("It goes on with the next 20, to the end."), "\(last.output)")
            let third = try fixture.startTool(words)
            #expect(try await third.waitForExit(within: 120) == 0, "\(third.output)")
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
            let audit = fixture.records("notifications.audit").compactMap(\.json)
            #expect(audit.compactMap { ($0["options"] as? [String: Any])?["hold"] as? String } == ["10", "40"])
        }
    }

    @Test("A detached campaign waits at its hold whoever publishes it, and goes on with a go")
    func detached() async throws {
        try await Fixture.run(CampaignPublishTests.plan { $0.more.append("notifications.audiences") }) { fixture in
            let count = 30
            let moment = Date.now.addingTimeInterval(20).formatted(.iso8601)
            let words = fixture.startWords(
                try fixture.audience(count), ["--hold-after", "10", "--at", moment, "--detach"])
            _ = try await fixture.startWorker()
            let start = try fixture.startTool(words)
            #expect(try await start.waitForExit(within: 60) == 0, "\(start.output)")
            let first = try fixture.startTool(["campaign", "run"])
            try await Self.wait(fixture, at: 10)
            first.kill()
            let second = try fixture.startTool(["campaign", "run"])
            try await fixture.wait("it is taken up") { second.output.contains("and it waits for you") }
            #expect(fixture.count("notifications.bulk") == 10)
            #expect(try await fixture.campaign("resume", "spring").status == 0)
            try await fixture.wait("it is complete") { second.output.contains("Campaign spring: 30 of 30") }
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
            second.terminate()
            #expect(try await second.waitForExit() == 0, "\(second.output)")
        }
    }
}
