import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Records that stay in memory")
struct EngineKeepTests {
    @Test("are copied after half a second, each of them once, whatever they wait for")
    func once() {
        let harness = EngineHarness()
        harness.event("hangs")
        harness.event("hangs")
        harness.event("settled")
        harness.answer(harness.takeCall(at: 1), CallResult(status: 200))
        harness.pass(.zero)
        harness.pass(.milliseconds(499))
        #expect(harness.kept.isEmpty)
        harness.pass(.milliseconds(250))
        #expect(harness.kept.count == 3)
        for _ in 0..<5 { harness.pass(.seconds(1)) }
        #expect(harness.kept.count == 3)
        #expect(Set(harness.kept).count == 3)
    }

    @Test("are not copied when they leave at once")
    func quick() {
        let harness = EngineHarness()
        for _ in 0..<50 {
            harness.settle()
            harness.acknowledgeAll()
            harness.pass(.milliseconds(100))
            harness.commitEnds(.acknowledged)
        }
        harness.event("young")
        harness.pass(.milliseconds(450))
        #expect(harness.kept.isEmpty)
    }

    @Test("are copied again in another use of the slot, even in an outage")
    func again() {
        let harness = EngineHarness()
        harness.event("a")
        harness.pass(.seconds(2))
        #expect(harness.kept.count == 1)
        harness.answer(200)
        harness.acknowledgeAll()
        harness.event("b")
        harness.answer(CallResult(failure: .tls))
        harness.pass(.seconds(2))
        #expect(harness.kept.count == 2)
    }
}
