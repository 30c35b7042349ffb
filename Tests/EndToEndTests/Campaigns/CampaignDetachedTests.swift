import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Detached campaigns", .realKafka("Detached campaigns"), .hangLimit)
struct CampaignDetachedTests {
    private static func plan() -> Fixture.Plan {
        CampaignPublishTests.plan {
            $0.more.append("notifications.audiences")
            $0.misbehaviour = [.hold()]
        }
    }

    private static func moment(in seconds: Double) -> String {
        Date.now.addingTimeInterval(seconds).formatted(.iso8601)
    }

    @Test("Runners are killed before its moment and while they publish: each of the audience is notified once")
    func kills() async throws {
        try await Fixture.run(Self.plan()) { fixture in
            let count = 3_000
            let words = fixture.startWords(
                try fixture.audience(count), ["--ramp", "500", "--at", Self.moment(in: 40), "--detach"])
            _ = try await fixture.startWorker()
            let start = try fixture.startTool(words)
            #expect(try await start.waitForExit(within: 60) == 0, "\(start.output)")
            #expect(start.output.contains("Detached, 0 of 3 000 recipients published"), "\(start.output)")
            let scheduled = try await fixture.campaignStatus("spring")
            #expect(scheduled["state"] as? String == "scheduled")
            let first = try fixture.startTool(["campaign", "run"])
            try await fixture.wait("it is taken up") {
                fixture.records("notifications.audit").compactMap(\.json).contains {
                    $0["phase"] as? String == "continued"
                }
            }
            first.kill()
            #expect(fixture.count("notifications.bulk") == 0)
            let second = try fixture.startTool(["campaign", "run"])
            try await fixture.wait("the first step is published") { fixture.count("notifications.bulk") == 500 }
            second.kill()
            fixture.backend.misbehave([])
            let third = try fixture.startTool(["campaign", "run"])
            try await fixture.wait("it is complete") { third.output.contains("Campaign spring: 3 000 of 3 000") }
            #expect(fixture.isEachCalledOnce(count), "\(fixture.callCounts)")
            #expect(fixture.publishedCounts().values.allSatisfy { $0 == 1 })
            try await fixture.wait("its audience is deleted") {
                let records = fixture.records("notifications.audiences")
                return !records.isEmpty && records.reduce(into: [:]) { $0[$1.key ?? []] = $1.value }.isEmpty
            }
            third.terminate()
            #expect(try await third.waitForExit() == 0, "\(third.output)")
        }
    }

    @Test("Nothing is detached without its topic, or at once")
    func refused() async throws {
        try await Fixture.run(CampaignPublishTests.plan()) { fixture in
            let words = fixture.startWords(try fixture.audience(3), ["--detach"])
            let atOnce = try fixture.startTool(words)
            #expect(try await atOnce.waitForExit() == 1)
            #expect(
                atOnce.output.contains("--detach is for a campaign that begins later; add --at"), "\(atOnce.output)")
            let later = try fixture.startTool(words + ["--at", Self.moment(in: 3_600)])
            #expect(try await later.waitForExit() == 1)
            #expect(later.output.contains("make it with: herald topics apply"), "\(later.output)")
            #expect(fixture.records("notifications.campaigns").isEmpty)
            let once = try fixture.startTool(["campaign", "run", "--once"])
            #expect(try await once.waitForExit(within: 60) == 0, "\(once.output)")
        }
    }
}
