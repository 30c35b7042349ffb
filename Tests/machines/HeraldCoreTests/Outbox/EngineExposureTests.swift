import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("While outcomes cannot be recorded")
struct EngineExposureTests {
    private func harness(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        EngineHarness.atomic {
            $0.maxUnrecorded = .seconds(1)
            change(&$0)
        }
    }

    @Test("calls begin until the oldest outcome has waited for a second, and again once a commit is made")
    func stalled() {
        let harness = harness()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.pass(.milliseconds(899))
        harness.event("b")
        #expect(harness.usersInFlight == ["b"])
        harness.pass(.milliseconds(1))
        harness.event("c")
        #expect(harness.usersInFlight == ["b"], "the commit has been under way for a second")
        #expect(harness.engine.nextWake.map { $0 > harness.now.monotonic } ?? true, "only the commit ends that")
        harness.commitEnds(.acknowledged)
        #expect(harness.usersInFlight == ["b", "c"])
    }

    @Test("an aborted transaction does not reset the outcomes' age")
    func aborted() {
        let harness = harness()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.commitEnds(.abortable)
        harness.abortEnds()
        harness.pass(.milliseconds(900))
        harness.event("b")
        #expect(harness.calls.isEmpty)
    }

    @Test("long calls delay no others")
    func slowCalls() {
        let harness = harness()
        harness.event("slow")
        for _ in 0..<20 {
            harness.settleOther()
            harness.pass(.milliseconds(500))
            harness.commitEnds(.acknowledged)
        }
        harness.event("b")
        #expect(harness.usersInFlight == ["slow", "b"])
    }

    @Test("events without a call do not count")
    func uncalled() {
        let harness = harness()
        harness.event("a", more: #","expiresAt":"1970-01-01T00:00:00Z""#)
        harness.pass(.milliseconds(100))
        harness.pass(.seconds(5))
        harness.event("b")
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("without transactions, a missing acknowledgement stops the calls, too")
    func atLeastOnce() {
        let harness = EngineHarness { $0.maxUnrecorded = .seconds(1) }
        harness.settle()
        harness.pass(.seconds(1))
        harness.event("b")
        #expect(harness.calls.isEmpty)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("a probe waits, too")
    func probes() {
        let harness = harness()
        harness.settle()
        harness.event("a")
        harness.answer(CallResult(failure: .tls))
        harness.pass(.milliseconds(100))
        harness.pass(.seconds(10))
        #expect(harness.calls.isEmpty)
        harness.commitEnds(.acknowledged)
        harness.pass(.zero)
        #expect(harness.calls.count == 1)
    }

    @Test(
        "a worker that stood still makes no call before a later commit",
        arguments: [true, false])
    func standstill(isAtomic: Bool) {
        let harness = isAtomic ? harness() : EngineHarness { $0.maxUnrecorded = .seconds(1) }
        harness.settle()
        if !isAtomic { harness.acknowledgeAll() }
        harness.pass(.milliseconds(100))
        harness.time += 12_000
        harness.engine.stoodStill(for: .seconds(12))
        // This commit began before.
        harness.commitEnds(.acknowledged)
        harness.event("b")
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("a commit that is found after its producer was lost proves no membership")
    func standstillAndLostProducer() {
        let harness = harness()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.time += 12_000
        harness.engine.stoodStill(for: .seconds(12))
        harness.pass(.milliseconds(100))
        harness.producerLost()
        harness.producerReady()
        // The offsets are those of the former commit: they are there, whichever member has the partitions now.
        harness.commitEnds(.acknowledged)
        harness.event("b")
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("a short pause is no standstill, and new partitions end one")
    func shortPause() {
        let harness = harness()
        harness.engine.stoodStill(for: .milliseconds(999))
        harness.event("a")
        #expect(harness.calls.count == 1)
        harness.engine.stoodStill(for: .seconds(1))
        harness.event("b")
        #expect(harness.calls.count == 1)
        harness.lose()
        harness.reassign()
        harness.event("c")
        #expect(harness.usersInFlight.contains("c"))
    }
}

extension EngineHarness {
    /// Adds the next event and answers its call, the latest one, with 200.
    fileprivate func settleOther() {
        event("other")
        answer(takeCall(at: calls.count - 1), CallResult(status: 200))
    }
}
