import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("The decision to pause a campaign")
struct FailureLimitTests {
    private func limit(_ share: Double?) -> FailureLimit {
        FailureLimit(share: share, meaningfulCount: CampaignControl.outcomesToJudge)
    }

    @Test(
        "A campaign pauses above the share, after 200 outcomes or at the end of a step",
        arguments: [
            (190, 9, false, false), (190, 10, false, false), (189, 11, false, true), (1_000, 50, false, false),
            (1_000, 53, false, true), (9, 1, false, false), (9, 1, true, true), (0, 0, true, false),
        ])
    func excess(delivered: Int, failed: Int, isStepEnd: Bool, isPaused: Bool) {
        let known = delivered + failed
        let excess = limit(0.05).excess(failed: failed, known: known, openAtEnd: isStepEnd ? 0 : nil)
        #expect((excess != nil) == isPaused)
        if isPaused { #expect(excess?.failed == failed && excess?.known == known) }
    }

    @Test(
        "A step has failed when its open outcomes cannot save it, and can fail while they can fail it",
        arguments: [
            (97, 0, 3, false, false), (94, 0, 6, false, true), (90, 5, 5, false, true), (0, 6, 94, true, true),
            (95, 5, 0, false, false), (0, 0, 1, false, true),
        ])
    func step(delivered: Int, failed: Int, open: Int, hasFailed: Bool, canFail: Bool) {
        let known = delivered + failed
        #expect((limit(0.05).excess(failed: failed, known: known, openAtEnd: open) != nil) == hasFailed)
        #expect(limit(0.05).canFail(failed: failed, known: known, open: open) == canFail)
        #expect(limit(nil).canFail(failed: failed, known: known, open: open) == nil)
    }

    @Test("Accepted failures do not count, and without a limit none do")
    func since() {
        var limit = limit(0.125)
        limit.accept(failed: 400, known: 500)
        #expect(limit.excess(failed: 420, known: 700, openAtEnd: nil) == nil)
        #expect(limit.excess(failed: 430, known: 710, openAtEnd: nil)?.known == 210)
        #expect(self.limit(nil).excess(failed: 900, known: 900, openAtEnd: 0) == nil)
    }
}

@Suite("The options of a campaign's start")
struct CampaignOrderTests {
    private static let now = WallTime(milliseconds: Samples.start)

    private func order(_ change: (inout CampaignOrder) throws -> Void = { _ in }) throws -> CampaignOrder {
        var order = CampaignOrder(
            text: CampaignText(
                name: "spring", template: try ContentTemplate("Hi"), pushServices: ["apns", "gcm"],
                maximumEventBytes: 65_536, users: .tag),
            topic: "bulk")
        try change(&order)
        return order
    }

    private func campaign(_ state: CampaignControl.State = .running) -> CampaignIndex.Campaign {
        let definition = CampaignDefinition(
            name: "spring", message: "Hi", pns: ["gcm", "apns"], topic: "bulk", startedAt: 0, startedBy: "ann",
            requestOffsets: [:], resultOffsets: [:])
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: 0), by: "ann", reason: "the link")
        return CampaignIndex.Campaign(name: "spring", definition: definition, progress: nil, control: control)
    }

    @Test("A new campaign can be started, and a running one continued at another pace")
    func agrees() throws {
        try order().check(against: nil, at: Self.now)
        try order().check(against: campaign(), at: Self.now)
        try order {
            $0.rate = 5
            $0.ramp = [1]
            $0.pauseIfFailures = 0.5
        }.check(against: campaign(), at: Self.now)
    }

    @Test(
        "An unreadable record or a missing definition is not taken for a new campaign",
        arguments: [
            [("spring/definition", "{\"version\":9}")], [("spring", "?")], [("spring/progress", "{}")],
            [
                (
                    "spring/progress",
                    """
                    {"recipients":1,"published":1,"repeats":0,"invalid":0,"isComplete":false,"at":1,"by":"a","outcomes":{},"resultOffsets":{}}
                    """
                )
            ],
        ])
    func damaged(records: [(String, String)]) throws {
        var index = CampaignIndex()
        for (key, value) in records { index.add(key: Array(key.utf8), value: Array(value.utf8), place: "0:1") }
        #expect(failure { try order().campaign(in: index) as Any }.contains("nothing is published"))
        index = CampaignIndex()
        index.add(key: Array("spring-2/definition".utf8), value: [0x3F], place: "0:1")
        #expect(try order().campaign(in: index) == nil)
    }

    @Test("Paused and cancelled campaigns are refused, and so is one that differs")
    func refuses() throws {
        #expect(
            failure { try order().check(against: campaign(.paused), at: Self.now) }.contains(
                "paused (the link); resume it"))
        #expect(
            failure { try order().check(against: campaign(.cancelled), at: Self.now) }.contains(
                "cancelled, which is for ever"))
        var other = try order {
            $0.text.pushServices = ["apns"]
            $0.topic = "other"
            $0.expiresIn = .milliseconds(1)
        }
        other.text.template = try ContentTemplate("Bye")
        let words = failure { try other.check(against: campaign(), at: Self.now) }
        #expect(words.contains("its message is another, its push services are gcm,apns, its topic is bulk"))
        #expect(words.contains("its events do not expire"))
    }

    @Test("Another title is another campaign, and so is one that it had not")
    func otherContent() throws {
        var content = CampaignContent()
        content.title = "Spring"
        content.data = ["order": "{{order}}"]
        var former = campaign()
        former.definition?.content = content
        var other = content
        other.title = "Autumn"
        other.badge = 1
        let differing = try order { $0.text.template = try ContentTemplate("Hi", other) }
        let words = failure { try differing.check(against: former, at: Self.now) }
        #expect(words.contains("and its title is another, it has no badge: continue"), "\(words)")
        try order { $0.text.template = try ContentTemplate("Hi", content) }.check(against: former, at: Self.now)
        let start = try order { $0.text.template = try ContentTemplate("Hi", content) }.newDefinition(
            at: WallTime(milliseconds: 0), by: "ann", requests: [:], results: [:])
        #expect(start.content == content)
        #expect(try start.template.fields.names == ["order"])
        let plain = try order().newDefinition(
            at: WallTime(milliseconds: 0), by: "ann", requests: [:], results: [:])
        #expect(plain.content == nil)
    }
}
