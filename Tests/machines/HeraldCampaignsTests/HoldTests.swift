import HeraldDriver
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("A campaign that waits for its operator")
struct HoldTests {
    private typealias Bench = CampaignBench

    private func status(_ bench: Bench) throws -> CampaignStatus {
        CampaignStatus(
            campaign: try #require(bench.campaign), count: OutcomeCount(snapshot: bench.outcomes),
            now: bench.moment.wall)
    }

    /// What an operator's order comes to; it is carried out.
    @discardableResult
    private func order(_ order: ControlOrder, _ bench: Bench) throws -> ControlOrder.Decision {
        let decision = order.decision(
            for: try #require(bench.campaign), isFinished: false, at: bench.moment.wall, by: "bob@desk", reason: nil)
        if case .write(let record) = decision {
            let (key, value) = record.record(order, of: Bench.name)
            bench.write(String(decoding: key, as: UTF8.self), value)
        }
        return decision
    }

    @Test("Exactly so many are published at each hold, and it goes on when an operator says so")
    func holds() throws {
        let bench = try Bench(10) { $0.holds = [3, 7] }
        let publisher = bench.start()
        bench.pass(60_000, publisher)
        #expect(bench.published.count == 3 && bench.waits(publisher) == .hold && publisher.news == ["held 3"])
        let waiting = try status(bench)
        #expect(waiting.state == .waiting && waiting.isPublisherAlive && !waiting.isOver && waiting.mayNotify)
        #expect(waiting.since == WallTime(milliseconds: Samples.start) && waiting.perSecond == nil)
        #expect(
            waiting.reason == "3 of 10 recipients are published; herald campaign resume spring goes on to 7",
            "\(waiting.reason ?? "")")
        #expect(waiting.json()["state"] == "waiting for you" && waiting.json()["hold"]?["next"] == 7)
        try order(.resume, bench)
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 7 && publisher.news == ["held 3", "resumed", "held 7"])
        #expect(try status(bench).reason?.hasSuffix("goes on with the rest") == true)
        try order(.resume, bench)
        #expect(bench.run(publisher) == .complete && bench.published == bench.audience)
        #expect(bench.batches == [3, 4, 3] && bench.campaign?.progress?.heldSince == nil)
        #expect(try order(.resume, bench) == .unchanged)
    }

    @Test("Whatever is killed at a hold goes on from it only with a go, and a go that was said before it counts")
    func kills() throws {
        let bench = try Bench(10) { $0.holds = [4] }
        bench.pass(1_000, bench.start())
        bench.now = bench.now.advanced(by: .seconds(30))
        #expect(try status(bench).state == .waiting, "it waits for a word, and not for its publisher")
        #expect(try status(bench).reason?.contains("nobody publishes until it is started again") == true)
        bench.order.holds = nil
        let second = bench.start()
        bench.pass(60_000, second)
        #expect(bench.published.count == 4 && second.news == ["continues 4", "held 4"])
        #expect(try status(bench).since == WallTime(milliseconds: Samples.start))
        try order(.resume, bench)
        #expect(try status(bench).state == .running)
        let third = bench.start()
        #expect(bench.run(third) == .complete && bench.published == bench.audience)
    }

    @Test("From a hold it is paused, resumed to the same hold, and cancelled")
    func orders() throws {
        let bench = try Bench(10) { $0.holds = [4] }
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        try order(.pause, bench)
        bench.pass(1_000, publisher)
        #expect(try status(bench).state == .paused && bench.waits(publisher) == .campaignPaused)
        try order(.resume, bench)
        bench.pass(1_000, publisher)
        #expect(try status(bench).state == .waiting && bench.published.count == 4)
        try order(.cancel, bench)
        #expect(bench.run(publisher) == .cancelled && bench.published.count == 4)
        #expect(try status(bench).state == .cancelled)
    }

    @Test("A pause that is written at the moment of a go neither undoes it nor is undone by it")
    func pausedMeanwhile() throws {
        let bench = try Bench(10) { $0.holds = [4] }
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        bench.write(
            CampaignGo.key(of: Bench.name), RecordJSON.encoded(CampaignGo(passed: 4, at: Samples.start, by: "bob")))
        bench.control(.paused)
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 4 && bench.waits(publisher) == .campaignPaused)
        bench.control(.running)
        #expect(bench.run(publisher) == .complete && bench.published == bench.audience)
    }

    @Test("Holds are dropped, changed and kept by later starts; one behind what is published holds nothing")
    func laterStarts() throws {
        let bench = try Bench(10) { $0.holds = [2, 5] }
        bench.pass(1_000, bench.start())
        bench.order.holds = [1, 6]
        bench.pass(1_000, bench.start())
        #expect(bench.published.count == 6 && bench.campaign?.progress?.holds == [1, 6])
        bench.order.holds = []
        #expect(bench.run(bench.start()) == .complete && bench.published == bench.audience)
        #expect(bench.campaign?.progress?.holds == [])
    }

    @Test(
        "A hold at the end of the audience is none; a step and a hold at one place are both waited for"
    )
    func ends() throws {
        let whole = try Bench(4) { $0.holds = [4, 9] }
        #expect(whole.run(whole.start()) == .complete)
        let bench = try Bench(10) { ($0.holds, $0.ramp) = ([4], [2, 2]) }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 2 && bench.waits(publisher) == .rampStep)
        bench.outcomes = ["delivered": 2]
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 4 && bench.waits(publisher) == .hold)
        try order(.resume, bench)
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 4 && bench.waits(publisher) == .rampStep)
        bench.outcomes = ["delivered": 4]
        bench.pass(1_000, publisher)
        #expect(bench.published == bench.audience)
    }

    @Test(
        "Holds are rising numbers",
        arguments: [
            ("100,1000", [100, 1_000]), ("1", [1]), ("none", []), ("100,100", nil), ("5,3", nil), ("0", nil), ("", nil),
            ("1,", nil), ("all", nil),
        ])
    func text(text: String, holds: [Int]?) { #expect(CampaignHolds.parse(text) == holds) }

    @Test("What a go begins is said with what became of those who are published")
    func consequence() throws {
        let bench = try Bench(10) { $0.holds = [4, 6] }
        bench.delivers = false
        bench.pass(1_000, bench.start())
        bench.outcomes = ["delivered": 2, "dead-lettered": 1]
        let plan = ControlPlan(.resume, try status(bench))
        #expect(
            plan.consequence
                == "Of the 4 notifications to the first 4 recipients: 2 delivered, 1 failed, 1 open. It goes on with the next 2, "
                + "and waits for you again.", "\(plan.consequence)")
        let members = plan.members(try plan.control(at: bench.moment.wall, by: "bob", reason: nil))
        #expect(members.first { $0.name == "was" }?.value == "waiting for you")
        #expect(members.first { $0.name == "is" }?.value == "running")
    }
}
