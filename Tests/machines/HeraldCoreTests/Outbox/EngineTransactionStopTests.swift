import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Transactions during a revocation")
struct EngineTransactionStopTests {
    @Test("revoked: calls end, then comes the last commit, and only then the partitions are given back")
    func revoked() {
        let harness = EngineHarness.atomic()
        harness.event("a")
        harness.event("b")
        harness.revoke()
        harness.answer(200)
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.answer(200)
        harness.pass(.zero)
        #expect(harness.others == [.commit(sequence: 1)], "it does not wait for its interval")
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("revoked with nothing under way: answered at once")
    func idle() {
        let harness = EngineHarness.atomic()
        harness.revoke()
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("revoked during a commit: events settled since get one of their own")
    func commitUnderWay() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.settle()
        harness.revoke()
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 2)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("the time-out passes: settled events are committed, the rest is given up")
    func deadline() {
        let harness = EngineHarness.atomic { $0.revokeTimeout = .seconds(3) }
        harness.event("hangs")
        harness.event("quick")
        let hanging = harness.takeCall()
        harness.answer(200)
        harness.revoke()
        for _ in 0..<29 {
            harness.pass(.milliseconds(100))
            harness.commitEnds(.acknowledged)
        }
        harness.event("not taken")
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
        harness.answer(hanging, CallResult(status: 200))
        #expect(harness.engine.counters.stale == 1)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("the time-out passes with settled, uncommitted events: they get their commit")
    func deadlineWithSettled() {
        let harness = EngineHarness.atomic {
            $0.revokeTimeout = .seconds(3)
            $0.commitInterval = .minutes(1)
        }
        harness.event("hangs")
        harness.settle(2)
        // `settle` answered the calls in their order: the one that hangs is the last of them.
        harness.revoke()
        harness.pass(.seconds(3))
        #expect(harness.others == [.beginTransaction, .notice(.gaveUp(events: 1)), .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("events that wait for a transaction at the revocation are written and committed at once")
    func pending() {
        let harness = EngineHarness.atomic {
            $0.maxInFlight = 1_000
            $0.commitInterval = .minutes(1)
        }
        harness.settle(2)
        #expect(harness.others.isEmpty)
        harness.revoke()
        harness.pass(.zero)
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("the last commit does not end in its time: the partitions are given back without it")
    func commitTooLate() {
        let harness = EngineHarness.atomic { $0.revokeTimeout = .seconds(3) }
        harness.settle()
        harness.revoke()
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction, .commit(sequence: 1)])
        harness.pass(.milliseconds(4_999))
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
    }

    @Test(
        "the later end of that commit does not affect the next assignment",
        arguments: [TransactionOutcome.acknowledged, .refused])
    func lateOutcome(outcome: TransactionOutcome) {
        let harness = EngineHarness.atomic { $0.revokeTimeout = .seconds(3) }
        harness.settle()
        harness.revoke()
        harness.pass(.zero)
        harness.pass(.seconds(5))
        _ = harness.takeOthers()
        harness.reassign()
        harness.settle()
        _ = harness.takeSummaries()
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers().isEmpty, "the new one waits until the old one has ended")
        harness.engine.committed(sequence: 1, outcome, now: harness.now)
        harness.pass(.zero)
        if outcome == .refused {
            #expect(harness.others == [.abortTransaction])
            harness.abortEnds()
        }
        harness.pass(.milliseconds(100))
        #expect(harness.summaries == ["result apns delivered"])
        harness.pass(.milliseconds(100))
        #expect(harness.others.last == .commit(sequence: 2))
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
    }

    @Test("the group refuses the last commit: another member has the partitions, and there is no retry")
    func refused() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.revoke()
        harness.pass(.zero)
        harness.commitEnds(.refused)
        #expect(harness.others == [.abortTransaction])
        harness.abortEnds()
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
    }

    @Test("the last commit fails for another reason: the same records return")
    func failed() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.revoke()
        harness.pass(.zero)
        harness.commitEnds(.abortable)
        _ = harness.takeSummaries()
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeSummaries() == ["result apns delivered"])
        harness.pass(.zero)
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("the worker stops during an abort: it ends first, then comes the last commit")
    func drainDuringAbort() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        harness.drain()
        #expect(harness.others == [.beginTransaction, .abortTransaction])
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction])
        harness.pass(.zero)
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("the worker stops while its producer is recreated")
    func drainWithoutProducer() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.producerLost()
        harness.drain()
        _ = harness.takeOthers()
        harness.producerReady()
        harness.pass(.milliseconds(100))
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("drain: events settled meanwhile are committed meanwhile, in case the end never comes")
    func commitsDuringDrain() {
        let harness = EngineHarness.atomic()
        harness.event("slow")
        harness.event("quick")
        harness.drain()
        let slow = harness.takeCall()
        harness.answer(200)
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        harness.answer(slow, CallResult(status: 200))
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 2)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("lost with an open transaction: it is aborted, and its records do not return")
    func lostOpen() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.event("c")
        _ = harness.takeCall()
        harness.lose()
        #expect(harness.others == [.beginTransaction, .abortTransaction, .unassign])
        #expect(harness.engine.load == (0, 0, 0))
        harness.reassign()
        _ = harness.takeSummaries()
        harness.settle()
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeSummaries() == ["result apns delivered"])
        #expect(harness.takeOthers() == [.beginTransaction])
    }

    @Test("lost during a commit: it stays as it is, and is not mixed with later events")
    func lostCommitting() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.settle()
        harness.lose()
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1), .unassign])
        harness.reassign()
        harness.commitEnds(.failedForNow)
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.commit(sequence: 1)], "the records must not become visible without the offsets")
        #expect(harness.engine.commitPositions.isEmpty)
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
        _ = harness.takeSummaries()
        harness.settle()
        #expect(harness.takeSummaries() == ["result apns delivered"])
        harness.pass(.milliseconds(100))
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
    }

    @Test(
        "a partition that begins anew: settled events of the old topic are recorded, but not in the new one")
    func restarted() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.restart()
        harness.settle()
        #expect(harness.takeSummaries().count == 3)
        harness.pass(.milliseconds(100))
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }
}
