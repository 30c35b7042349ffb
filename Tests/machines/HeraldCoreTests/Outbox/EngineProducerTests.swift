import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A producer that is lost")
struct EngineProducerTests {
    @Test("is replaced by a new one, which writes the uncommitted records")
    func renewed() {
        let harness = EngineHarness.atomic()
        harness.settle()
        let former = harness.produced[0].id
        let summaries = harness.takeSummaries()
        harness.producerLost()
        #expect(harness.takeOthers() == [.beginTransaction, .renewProducer])
        harness.settle()
        harness.pass(.seconds(5))
        #expect(harness.summaries.isEmpty)
        harness.fail(former, .other)
        harness.producerReady()
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction])
        #expect(harness.takeSummaries() == summaries + ["result apns delivered"])
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("is reported once, however often the loss shows")
    func once() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.producerLost()
        harness.producerLost()
        harness.transactionFails()
        harness.engine.aborted(.fatal(isFenced: false), now: harness.now)
        #expect(harness.takeOthers() == [.beginTransaction, .renewProducer])
    }

    @Test("is recreated after a growing pause when it is lost repeatedly")
    func pauses() {
        let harness = EngineHarness.atomic()
        harness.settle()
        var pauses: [Int64] = []
        for _ in 0..<4 {
            harness.producerLost()
            harness.producerReady()
            _ = harness.takeOthers()
            let start = harness.time
            while !harness.others.contains(.beginTransaction) { harness.pass(.milliseconds(100)) }
            pauses.append(harness.time - start)
        }
        #expect(pauses == [100, 200, 400, 800])
    }

    @Test("leaves none of its faults to the new one: no doom, no record that waits for room")
    func cleanStart() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.fail(harness.produced[0].id, .queueFull)
        harness.transactionFails()
        harness.producerLost()
        harness.producerReady()
        _ = harness.takeOthers()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
    }

    @Test("does not lose offsets without records")
    func offsetsOnly() {
        let harness = EngineHarness.atomic()
        harness.record(nil)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.abortable)
        harness.abortEnds(.fatal(isFenced: false))
        #expect(harness.takeOthers() == [.renewProducer])
        harness.producerReady()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction, .commit(sequence: 2)])
    }

    @Test("is replaced, too, when an abort cannot be made")
    func lostInAbort() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        harness.abortEnds(.fatal(isFenced: false))
        #expect(harness.takeOthers() == [.renewProducer])
        harness.producerReady()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }
}

@Suite("A commit whose producer is lost")
struct EngineDoubtTests {
    /// An engine with two settled events in a commit of unknown outcome, and a third, later one.
    private func inDoubt() -> EngineHarness {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.pass(.milliseconds(100))
        harness.settle()
        _ = harness.takeSummaries()
        harness.commitEnds(.fatal(isFenced: false))
        return harness
    }

    @Test("is resolved by asking the group, in the new producer's time")
    func asked() {
        let harness = inDoubt()
        #expect(harness.takeOthers() == [.renewProducer])
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().isEmpty)
        harness.producerReady()
        #expect(harness.others == [.resolveCommit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
        #expect(harness.summaries.isEmpty)
        harness.commitEnds(.failedForNow)
        harness.pass(.milliseconds(99))
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.takeOthers() == [.resolveCommit(sequence: 1)])
    }

    @Test("that was made is not written again")
    func made() {
        let harness = inDoubt()
        harness.producerReady()
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 1, 1))
        harness.pass(.zero)
        #expect(harness.takeSummaries() == ["result apns delivered"])
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [3])
    }

    @Test(
        "that was not made is written again completely, without an abort",
        arguments: [TransactionOutcome.abortable, .refused])
    func notMade(outcome: TransactionOutcome) {
        let harness = inDoubt()
        harness.producerReady()
        harness.commitEnds(outcome)
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(100))
        #expect(harness.takeSummaries().count == 3)
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [3])
        #expect(harness.calls.isEmpty)
    }

    @Test("is asked about again if the next producer is lost too")
    func lostAgain() {
        let harness = inDoubt()
        harness.producerReady()
        harness.time += 10_000
        _ = harness.takeOthers()
        harness.producerLost(isFenced: true)
        #expect(harness.takeOthers() == [.renewProducer])
        harness.producerReady()
        #expect(harness.others == [.resolveCommit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 1, 1))
    }

    @Test("has no effect any more when the former producer reports its end")
    func late() {
        let harness = inDoubt()
        harness.engine.committed(sequence: 1, .abortable, now: harness.now)
        harness.producerReady()
        #expect(harness.takeOthers() == [.renewProducer, .resolveCommit(sequence: 1)])
    }

    @Test("is no longer asked about once the partitions are gone")
    func lostPartitions() {
        let harness = inDoubt()
        harness.lose()
        harness.reassign()
        _ = harness.takeOthers()
        harness.producerReady()
        #expect(harness.takeOthers().isEmpty)
        harness.settle()
        #expect(harness.takeOthers() == [.beginTransaction])
    }
}

@Suite("A producer that is fenced")
struct EngineFencedTests {
    @Test("in a transaction younger than the broker's limit: another process has this worker's name")
    func rival() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.time += 9_999
        harness.producerLost(isFenced: true)
        #expect(harness.takeOthers() == [.beginTransaction, .notice(.rival)])
    }

    @Test("in an older transaction: the worker was stopped, and makes a new producer")
    func zombie() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.time += 10_000
        harness.producerLost(isFenced: true)
        #expect(harness.takeOthers() == [.beginTransaction, .renewProducer])
    }

    @Test("by its own late claim, perhaps: each claim explains one fence, the next is another process")
    func lateClaim() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.producerLost()
        harness.producerReady(lateClaims: 1)
        for expected in [Action.renewProducer, .notice(.rival)] {
            harness.pass(.seconds(1))
            _ = harness.takeOthers()
            harness.producerLost(isFenced: true)
            #expect(harness.takeOthers() == [expected])
            harness.producerReady()
        }
    }

    @Test("after an abort, which proves no end: the transaction may be as old as the one before")
    func afterAnAbort() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        harness.abortEnds()
        harness.pass(.seconds(10))
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.producerLost(isFenced: true)
        #expect(harness.takeOthers() == [.renewProducer])
    }

    @Test("after a commit, which ends all earlier transactions: another process fences a young one")
    func afterACommit() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        harness.abortEnds()
        harness.pass(.seconds(10))
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.settle()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction, .commit(sequence: 2)])
        harness.producerLost(isFenced: true)
        #expect(harness.takeOthers() == [.notice(.rival)])
    }

    @Test("during a commit is judged in the same way", arguments: [true, false])
    func inCommit(isYoung: Bool) {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        if !isYoung { harness.time += 9_900 }
        harness.commitEnds(.fatal(isFenced: true))
        #expect(harness.takeOthers() == [isYoung ? .notice(.rival) : .renewProducer])
    }
}
