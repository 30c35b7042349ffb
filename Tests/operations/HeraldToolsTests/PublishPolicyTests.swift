import HeraldTools
import Testing

@Suite("One publisher, whatever it publishes")
struct PublishPolicyTests {
    private final class Policy: PublishPolicy {
        var admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: 100, rate: nil, ramp: Ramp(steps: [1, 10]), published: 0)
        var left = 50
        var known = 0
        var batches: [Int] = []
        var waits: [PublishAdmission.Wait] = []
        /// After so many waits for a step it is enough.
        var patience = Int.max

        var openOutcomes: (all: Int, step: Int) { (admission.published - known, admission.published - known) }

        func poll(waitMilliseconds: Int32) { if waitMilliseconds > 0 { known = admission.published } }
        func keepAlive() {}
        func standing() -> Standing<String> { left == 0 ? .ended("all") : .publishing }
        func publish(atMost count: Int) -> Int {
            batches.append(min(count, left))
            left -= batches[batches.count - 1]
            return batches[batches.count - 1]
        }
        func holdBack(_ reason: PublishAdmission.Wait) -> String? {
            waits.append(reason)
            return waits.count > patience ? "patience" : nil
        }
        func report() {}
    }

    @Test("It publishes step by step, waits for the outcomes of each, and ends as the policy says")
    func steps() throws {
        let policy = Policy()
        #expect(try policy.run() == "all")
        #expect(policy.batches == [1, 10, 39] && policy.waits == [.ramp, .ramp])
    }

    @Test("A policy that has waited for long enough ends it")
    func patience() throws {
        let policy = Policy()
        policy.patience = 1
        #expect(try policy.run() == "patience")
        #expect(policy.batches == [1, 10])
    }

    /// One record, whose outcome comes with a look that does not wait, and is its end.
    private final class OneRecord: PublishPolicy {
        var admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: 1, rate: nil, ramp: Ramp(steps: []), published: 0)
        private(set) var openOutcomes = (all: 0, step: 0)
        private(set) var reported: [Int] = []

        func poll(waitMilliseconds: Int32) { openOutcomes = (0, 0) }
        func keepAlive() {}
        func standing() -> Standing<String> { admission.published == 1 ? .ended("all") : .publishing }
        func publish(atMost count: Int) -> Int {
            openOutcomes = (1, 1)
            return 1
        }
        func holdBack(_ reason: PublishAdmission.Wait) -> String? { nil }
        func report() { reported.append(openOutcomes.all) }
    }

    @Test("The outcome with which it ends is reported, too")
    func lastOutcome() throws {
        let policy = OneRecord()
        #expect(try policy.run() == "all")
        #expect(policy.reported == [1, 0])
    }
}
