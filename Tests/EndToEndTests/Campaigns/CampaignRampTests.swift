import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Ramps of campaigns with users who retry", .realKafka("Ramps of campaigns"), .hangLimit)
struct CampaignRampTests {
    /// The second delay is longer than any test, so users in it are not waited for.
    private static func plan(failing user: String) -> Fixture.Plan {
        CampaignPublishTests.plan {
            $0.settings["retry.delays"] = "[1s, 1h]"
            $0.misbehaviour = [.status(503) { $0.user = user }]
        }
    }

    @Test(
        "A retrying user does not hold the step, with a share that may fail and without",
        arguments: [["--pause-if-failures", "10%"], []])
    func oneRetries(limit: [String]) async throws {
        try await Fixture.run(Self.plan(failing: "user-3")) { fixture in
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(
                fixture.startWords(try fixture.audience(100), ["--ramp", "20,30"] + limit))
            try await fixture.wait("everybody is published") { fixture.count("notifications.bulk") == 100 }
            #expect(!run.output.contains("is paused") && run.isRunning, "\(run.output)")
        }
    }

    @Test(
        "A step in which all users retry is waited for, and the status gives the reason",
        arguments: [["--pause-if-failures", "100%"], []])
    func allRetry(limit: [String]) async throws {
        try await Fixture.run(Self.plan(failing: "user-*")) { fixture in
            _ = try await fixture.startWorker()
            let run = try fixture.startTool(
                fixture.startWords(try fixture.audience(100), ["--ramp", "5"] + limit))
            try await Self.wait(fixture, for: "mostly-open", open: 5, retrying: 5)
            #expect(fixture.count("notifications.bulk") == 5 && run.isRunning)
            let page = try await fixture.campaign("status", "spring", "--once")
            #expect(page.output.contains("waits for 5 outcomes (5 retrying) of step 1 of the ramp (5 recipients)"))
            #expect(page.output.contains("less than half of it is known"), "\(page.output)")
        }
    }

    @Test("A retrying user that can still fail the step holds it visibly, and --ramp none continues without")
    func undecided() async throws {
        try await Fixture.run(Self.plan(failing: "user-3")) { fixture in
            _ = try await fixture.startWorker()
            let words = fixture.startWords(try fixture.audience(100), ["--pause-if-failures", "5%"])
            let held = try fixture.startTool(words + ["--ramp", "10"])
            try await Self.wait(fixture, for: "undecided", open: 1, retrying: 1)
            #expect(fixture.count("notifications.bulk") == 10)
            let page = try await fixture.campaign("status", "spring", "--once")
            #expect(page.output.contains("without one recipient who goes on failing"), "\(page.output)")
            _ = try fixture.startTool(words + ["--ramp", "none"])
            #expect(try await held.waitForExit(within: 120) == 1, "\(held.output)")
            try await fixture.wait("everybody is published") { fixture.count("notifications.bulk") == 100 }
        }
    }

    private static func wait(_ fixture: Fixture, for reason: String, open: Int, retrying: Int) async throws {
        try await fixture.wait("the step is published") { fixture.count("notifications.bulk") > 0 }
        let isSaid = try await eventually {
            let wait = try await fixture.campaignStatus("spring")["rampWait"] as? [String: Any]
            return wait?["reason"] as? String == reason && wait?["open"] as? Int == open
                && wait?["retrying"] as? Int == retrying
        }
        #expect(isSaid)
    }
}
