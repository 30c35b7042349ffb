import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Transactions")
struct EngineTransactionTests {
    @Test("the first settled event opens one, and it is committed after the interval")
    func opened() {
        let harness = EngineHarness.atomic()
        harness.event("a", "apns,gcm")
        harness.pass(.milliseconds(50))
        #expect(harness.takeOthers().isEmpty)
        harness.answer(200)
        harness.answer(200)
        #expect(harness.takeOthers() == [.beginTransaction])
        #expect(harness.takeSummaries() == ["result apns delivered", "result gcm delivered"])
        harness.settle()
        harness.pass(.milliseconds(49))
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.others == [.commit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
        harness.pass(.seconds(10))
        #expect(harness.takeOthers().isEmpty, "there is nothing more to commit")
    }

    @Test("a few settled events are produced when their commit is due, and many before")
    func fewAndMany() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 1_000 }
        harness.settle()
        harness.pass(.milliseconds(99))
        #expect(harness.others.isEmpty && harness.summaries.isEmpty)
        harness.pass(.milliseconds(1))
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        #expect(harness.takeSummaries().count == 1)
        harness.commitEnds(.acknowledged)
        harness.settle(124)
        #expect(harness.others.isEmpty)
        harness.settle()
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        #expect(harness.takeSummaries().count == 125)
        harness.settle()
        #expect(harness.takeSummaries().count == 1, "who comes later joins")
    }

    @Test("after an interval without a commit, an event does not wait for another")
    func rare() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 1_000 }
        harness.pass(.milliseconds(100))
        harness.settle()
        harness.pass(.zero)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
    }

    @Test("nothing is produced before the producer is ready, and everything at once then")
    func preparing() {
        let harness = EngineHarness { $0.isAtomic = true }
        harness.settle(2)
        harness.pass(.seconds(5))
        #expect(harness.takeOthers().isEmpty)
        #expect(harness.summaries.isEmpty)
        harness.producerReady()
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        #expect(harness.takeSummaries().count == 2)
    }

    @Test("events settled during a commit belong to the next one")
    func pending() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        _ = harness.takeSummaries()
        harness.settle(2)
        harness.pass(.seconds(1))
        #expect(harness.summaries.isEmpty)
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        harness.commitEnds(.acknowledged)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        #expect(harness.takeSummaries().count == 2)
        harness.pass(.zero)
        #expect(harness.others == [.commit(sequence: 2)], "its interval was over long ago")
        #expect(harness.engine.commitPositions.map(\.offset) == [3])
    }

    @Test("it is committed early when half of the room is used")
    func crowded() {
        let harness = EngineHarness.atomic()
        let half = harness.engine.configuration.transactionRoom / 2
        harness.settle(half - 1)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.settle()
        let wake = harness.engine.nextWake
        #expect(wake.map { $0 <= harness.now.monotonic } == true)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
    }

    @Test("a commit waits until the producer has taken or refused every record")
    func unheard() {
        let harness = EngineHarness.atomic()
        harness.event("a")
        let call = harness.takeCall()
        harness.time += 100
        // The lane has not carried out the actions yet at the end of the interval.
        harness.engine.answer(call, CallResult(status: 200), now: harness.now, entropy: 0)
        harness.engine.tick(now: harness.now)
        let hasCommit = harness.engine.actions.contains { if case .commit = $0 { true } else { false } }
        #expect(!hasCommit)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
    }

    @Test("offsets without records are committed in a transaction of their own")
    func offsetsOnly() {
        let harness = EngineHarness.atomic()
        harness.record(nil)
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        harness.commitEnds(.acknowledged)
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().isEmpty)
    }

    @Test("events without an outcome open none")
    func nothingNew() {
        let harness = EngineHarness.atomic()
        harness.event("a")
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().isEmpty)
    }

    @Test("offsets are complete, and slots free, when the commit is acknowledged and not before")
    func acknowledged() {
        let harness = EngineHarness.atomic()
        harness.event("slow")
        harness.event("quick")
        let slow = harness.takeCall()
        harness.answer(200)
        harness.pass(.milliseconds(100))
        let position = harness.engine.commitPositions
        #expect(position.map(\.offset) == [0])
        #expect(CompletionMap(text: position[0].metadata, committed: 0, of: .first)?.done == [1..<2])
        #expect(harness.engine.load == (1, 2, 1))
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (1, 1, 0))
        harness.answer(slow, CallResult(status: 200))
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.beginTransaction, .commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
        let metadata = harness.engine.commitPositions.map(\.metadata)
        #expect(metadata.allSatisfy { $0.hasPrefix("h3b") && $0.utf8.count < 40 }, "nothing is done beyond it")
    }

    @Test("a commit that failed temporarily is requested again, the same one, for as long as needed")
    func failedForNow() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.settle()
        _ = harness.takeSummaries()
        for _ in 0..<50 {
            harness.commitEnds(.failedForNow)
            harness.pass(.milliseconds(99))
            #expect(harness.others.isEmpty)
            harness.pass(.milliseconds(1))
            #expect(harness.others == [.commit(sequence: 1)])
            #expect(harness.engine.commitPositions.map(\.offset) == [1])
        }
        #expect(harness.summaries.isEmpty)
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 1, 1))
    }

    @Test("an answer about a past commit, or one with another number, is dropped")
    func stale() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.engine.committed(sequence: 7, .acknowledged, now: harness.now)
        #expect(harness.engine.load == (0, 1, 1))
        harness.commitEnds(.acknowledged)
        harness.engine.committed(sequence: 1, .abortable, now: harness.now)
        harness.engine.aborted(.acknowledged, now: harness.now)
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().isEmpty)
    }

    @Test("the engine never asks to be woken in the past while it waits for an answer")
    func wakes() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        let committing = harness.engine.nextWake
        #expect(committing.map { $0 > harness.now.monotonic } ?? true)
        harness.commitEnds(.abortable)
        harness.pass(.milliseconds(500))
        let aborting = harness.engine.nextWake
        #expect(aborting.map { $0 > harness.now.monotonic } ?? true)
        harness.abortEnds()
        harness.pass(.zero)
        let waiting = harness.engine.nextWake
        #expect(waiting.map { $0 > harness.now.monotonic } == true, "it wants to be woken when the pause is over")
    }
}
