import Foundation
import HeraldEvents
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("How many recipients may be published")
struct PublishPaceTests {
    private let start = ContinuousClock.now

    private func pace(
        services: Int = 1, rate: Double? = nil, ramp: [Int] = [], published: Int = 0
    ) -> PublishPace {
        PublishPace(outcomesPerEvent: services, rate: rate, ramp: ramp, published: published)
    }

    /// How many are published within some seconds, looked at every 20 ms, when outcomes come so fast.
    private func run(_ pace: inout PublishPace, seconds: Double, known: (Double, PublishPace) -> Int) -> Int {
        let before = pace.published
        var most = 0
        for step in 0..<Int(seconds * 50) {
            let time = Double(step) / 50
            let outcomes = known(time, pace)
            if case .publish(let count) = pace.decision(known: outcomes, at: start + .seconds(time)) {
                pace.notePublished(count)
            }
            most = max(most, pace.expected - outcomes)
        }
        #expect(most <= PublishPace.openLimit)
        return pace.published - before
    }

    @Test("Without outcomes no more than 10 000 are open, for each push service", arguments: [1, 2, 3])
    func openLimit(services: Int) {
        var pace = pace(services: services)
        let published = run(&pace, seconds: 10) { _, _ in 0 }
        #expect(published * services <= 10_000 && published * services > 9_000)
        #expect(pace.decision(known: 0, at: start + .seconds(11)) == .wait(.outcomes))
        guard case .publish = pace.decision(known: 5_000, at: start + .seconds(12)) else {
            Issue.record("it goes on with the outcomes")
            return
        }
    }

    @Test("With outcomes at once a batch goes at each look")
    func fast() {
        var pace = pace()
        #expect(run(&pace, seconds: 1) { _, pace in pace.expected } == 50 * PublishPace.batchLimit)
    }

    @Test("A rate is kept over any time, from the first second on", arguments: [0.5, 1, 7, 200, 5_000])
    func rate(rate: Double) {
        var pace = pace(rate: rate)
        for seconds in [20.0] {
            let published = Double(run(&pace, seconds: seconds) { _, pace in pace.expected })
            #expect(published <= 1 + rate * seconds && published >= rate * seconds * 0.9 - 1, "\(published)")
        }
    }

    @Test("What could not be published for a while is not made up for at once")
    func burst() {
        var pace = pace(rate: 100)
        _ = pace.decision(known: 0, at: start)
        #expect(pace.decision(known: 0, at: start + .seconds(1_000)) == .publish(100))
    }

    @Test(
        "Each step of a ramp waits for all outcomes before, counted over all runs, and everything else comes behind it")
    func ramp() {
        var pace = pace(services: 2, ramp: [1, 10, 100])
        var sizes: [Int] = []
        for _ in 0..<4 {
            guard case .publish(let count) = pace.decision(known: pace.expected, at: start) else { break }
            sizes.append(count)
            pace.notePublished(count)
            guard pace.isAtStepEnd else { continue }
            #expect(pace.decision(known: pace.expected - 1, at: start) == .wait(.ramp))
        }
        #expect(sizes == [1, 10, 100, PublishPace.batchLimit] && pace.step == nil)
        var continued = self.pace(ramp: [1, 10, 100], published: 5)
        #expect(continued.step == 2 && continued.decision(known: 5, at: start) == .publish(6))
        // In the middle of a step nothing is waited for.
        #expect(continued.decision(known: 0, at: start) == .publish(6))
        #expect(self.pace(ramp: [1, 10, 100], published: 500).step == nil)
    }
}

@Suite("Whether a campaign has to be paused")
struct FailureJudgeTests {
    private func count(_ delivered: Int, _ failed: Int, expired: Int = 0) -> OutcomeCount {
        OutcomeCount(snapshot: ["delivered": delivered, "dead-lettered": failed, "expired": expired])
    }

    @Test(
        "More than the share, after 200 outcomes or at the end of a step",
        arguments: [
            (190, 9, false, false), (190, 10, false, false), (189, 11, false, true), (1_000, 50, false, false),
            (1_000, 53, false, true), (9, 1, false, false), (9, 1, true, true), (0, 0, true, false),
        ])
    func verdict(delivered: Int, failed: Int, isStepEnd: Bool, isPaused: Bool) {
        let judge = FailureJudge(limit: 0.05, from: OutcomeCount())
        let verdict = judge.verdict(on: count(delivered, failed, expired: 500), isStepEnd: isStepEnd)
        #expect((verdict != nil) == isPaused, "\(verdict ?? "")")
        if isPaused { #expect(verdict == "\(failed) of \(delivered + failed) outcomes failed, more than 5%") }
    }

    @Test("What was known at the start or the last resume does not count, and without a limit nothing does")
    func since() {
        let judge = FailureJudge(limit: 0.125, from: count(100, 400))
        #expect(judge.verdict(on: count(280, 420), isStepEnd: false) == nil)
        #expect(judge.verdict(on: count(280, 430), isStepEnd: false)?.hasSuffix("more than 12.5%") == true)
        #expect(FailureJudge(limit: nil, from: count(0, 0)).verdict(on: count(0, 900), isStepEnd: true) == nil)
    }
}

@Suite("What a campaign is started with")
struct CampaignOrderTests {
    private func order(_ change: (inout CampaignOrder) -> Void = { _ in }) throws -> CampaignOrder {
        var order = CampaignOrder(
            text: CampaignText(
                name: "spring", template: try MessageTemplate("Hi"), pushServices: ["apns", "gcm"],
                maximumEventBytes: 65_536),
            topic: "bulk")
        change(&order)
        return order
    }

    private func campaign(_ state: CampaignControl.State = .running) -> CampaignBook.Campaign {
        let definition = CampaignDefinition(
            name: "spring", message: "Hi", pns: ["gcm", "apns"], topic: "bulk", startedAt: 0, startedBy: "ann",
            requestOffsets: [:], resultOffsets: [:])
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: 0), by: "ann", reason: "the link")
        return CampaignBook.Campaign(name: "spring", definition: definition, progress: nil, control: control)
    }

    @Test("A new one can be started, one that runs continued with other paces")
    func agrees() throws {
        try order().check(against: nil)
        try order().check(against: campaign())
        try order {
            $0.rate = 5
            $0.ramp = [1]
            $0.pauseIfFailures = 0.5
        }.check(against: campaign())
    }

    @Test(
        "A record of it that cannot be read, or a definition that is gone, is not taken for a new campaign",
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
        var book = CampaignBook()
        for (key, value) in records { book.take(key: Array(key.utf8), value: Array(value.utf8), place: "0:1") }
        #expect(failure { try order().campaign(in: book) as Any }.contains("nothing is published"))
        book = CampaignBook()
        book.take(key: Array("spring-2/definition".utf8), value: [0x3F], place: "0:1")
        #expect(try order().campaign(in: book) == nil)
    }

    @Test("A paused and a cancelled one are refused, and so is one that differs")
    func refuses() throws {
        #expect(failure { try order().check(against: campaign(.paused)) }.contains("paused (the link); resume it"))
        #expect(failure { try order().check(against: campaign(.cancelled)) }.contains("cancelled, which is for ever"))
        let other = try order {
            $0.text.pushServices = ["apns"]
            $0.topic = "other"
            $0.expiresInMilliseconds = 1
        }
        let words = failure { try other.check(against: campaign()) }
        #expect(words.contains("its push services are gcm,apns, its topic is bulk, its events do not expire"))
    }
}
