import Testing

@testable import HeraldCampaigns

@Suite("The beginning of a ramp's next step")
struct RampStepTests {
    private static let goesOn = RampStep.Verdict.goesOn

    private func verdict(
        _ outcomes: Int, open: Int, retryingLong: Int? = nil, canFail: Bool? = nil, perEvent: Int = 1,
        isFollowed: Bool = false, isLate: Bool = false
    ) -> RampStep.Verdict {
        RampStep(
            outcomes: outcomes, open: open, retryingLong: retryingLong, canFail: canFail, outcomesPerEvent: perEvent,
            isFollowedByStep: isFollowed, isPatienceOver: isLate
        ).verdict
    }

    @Test("A step begins when all outcomes of the previous one are known", arguments: [1, 10, 30_000])
    func known(outcomes: Int) {
        for canFail in [nil, false, true] { #expect(verdict(outcomes, open: 0, canFail: canFail) == Self.goesOn) }
    }

    @Test(
        "A step with less than half of its outcomes waits, whatever may fail: the backend may be down",
        arguments: [(1, 1), (2, 2), (10, 6), (100, 100), (100, 51), (10, 200)])
    func down(outcomes: Int, open: Int) {
        for canFail in [nil, false, true] {
            #expect(verdict(outcomes, open: open, retryingLong: open, canFail: canFail) == .waits(.mostlyOpen))
        }
    }

    @Test("With a share that may fail, retrying users hold the step only while they can still decide it")
    func share() {
        #expect(verdict(100, open: 1, canFail: false) == Self.goesOn)
        #expect(verdict(100, open: 1, retryingLong: 1, canFail: true) == .waits(.undecided))
    }

    @Test(
        "Where any share may fail, users that retry for long are not waited for, but uncalled ones are")
    func anyShare() {
        #expect(verdict(10, open: 1, retryingLong: 1) == Self.goesOn)
        #expect(verdict(10, open: 5, retryingLong: 9) == Self.goesOn)
        #expect(verdict(10, open: 2, retryingLong: 1) == .waits(.outcomes))
        #expect(verdict(10, open: 1, retryingLong: nil) == .waits(.outcomes))
    }

    @Test("A start of a known campaign lists the remaining steps")
    func stepsLeft() {
        #expect(CampaignPreview.steps([10, 100], after: 0) == [10, 100])
        #expect(CampaignPreview.steps([10, 100], after: 7) == [3, 100])
        #expect(CampaignPreview.steps([10, 100], after: 10) == [100])
        #expect(CampaignPreview.steps([10, 100], after: 110) == [])
    }

    @Test("One recipient that keeps failing delays a step for a time, then the step is judged without it")
    func patience() {
        for (outcomes, perEvent, canFail) in [(10, 1, true), (20, 2, true), (2, 1, true), (2, 1, nil)]
            as [(Int, Int, Bool?)]
        {
            func verdict(open: Int = perEvent, long: Int? = perEvent, isLate: Bool) -> RampStep.Verdict {
                self.verdict(
                    outcomes, open: open, retryingLong: long, canFail: canFail, perEvent: perEvent, isLate: isLate)
            }
            if canFail == true {
                #expect(verdict(isLate: false) == .waits(.undecided))
                #expect(verdict(isLate: true) == .goesOnWithout)
            }
            #expect(verdict(long: nil, isLate: true) != .goesOnWithout, "not known whether he was called")
            #expect(verdict(long: 0, isLate: true) != .goesOnWithout, "his first retry is to come")
            #expect(verdict(open: perEvent + 1, long: 99, isLate: true) != .goesOnWithout, "more than one")
        }
        #expect(verdict(10, open: 0, canFail: true, isLate: true) == Self.goesOn)
    }

    @Test("When only a failing recipient is known, another step may follow, but never the whole audience")
    func onlyOne() {
        for canFail in [nil, true] {
            for perEvent in [1, 2] {
                func verdict(isFollowed: Bool, isLate: Bool) -> RampStep.Verdict {
                    self.verdict(
                        perEvent, open: perEvent, retryingLong: perEvent, canFail: canFail, perEvent: perEvent,
                        isFollowed: isFollowed, isLate: isLate)
                }
                #expect(verdict(isFollowed: true, isLate: false) == .waits(.mostlyOpen))
                #expect(verdict(isFollowed: true, isLate: true) == .goesOnWithout)
                #expect(verdict(isFollowed: false, isLate: true) == .waits(.mostlyOpen))
            }
        }
    }
}
