import Testing

@testable import HeraldCampaigns

@Suite("When the next step of a ramp begins")
struct RampStepTests {
    private static let goesOn = RampStep.Verdict.goesOn

    private func verdict(_ outcomes: Int, open: Int, retryingLong: Int? = nil, canFail: Bool? = nil)
        -> RampStep.Verdict
    {
        RampStep(outcomes: outcomes, open: open, retryingLong: retryingLong, canFail: canFail).verdict
    }

    @Test("It begins when all outcomes of the step before are known", arguments: [1, 10, 30_000])
    func known(outcomes: Int) {
        for canFail in [nil, false, true] { #expect(verdict(outcomes, open: 0, canFail: canFail) == Self.goesOn) }
    }

    @Test(
        "A step of which less than half is known waits, whatever may fail: the backend may be down",
        arguments: [(1, 1), (2, 2), (10, 6), (100, 100), (100, 51), (10, 200)])
    func down(outcomes: Int, open: Int) {
        for canFail in [nil, false, true] {
            #expect(verdict(outcomes, open: open, retryingLong: open, canFail: canFail) == .waits(.mostlyOpen))
        }
    }

    @Test("With a share that may fail, those who retry hold it only while they still decide")
    func share() {
        #expect(verdict(100, open: 1, canFail: false) == Self.goesOn)
        #expect(verdict(100, open: 1, retryingLong: 1, canFail: true) == .waits(.undecided))
    }

    @Test(
        "Where any share may fail, who retries for long is not waited for, and who was not called yet is")
    func anyShare() {
        #expect(verdict(10, open: 1, retryingLong: 1) == Self.goesOn)
        #expect(verdict(10, open: 5, retryingLong: 9) == Self.goesOn)
        #expect(verdict(10, open: 2, retryingLong: 1) == .waits(.outcomes))
        #expect(verdict(10, open: 1, retryingLong: nil) == .waits(.outcomes))
    }
}
