import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Transactions that fail")
struct EngineAbortTests {
    @Test(
        "the same records return in the next one, under other names and without a call",
        arguments: [TransactionOutcome.abortable, .refused])
    func again(outcome: TransactionOutcome) {
        let harness = EngineHarness.atomic()
        harness.event("a", "apns,gcm")
        harness.answer(200)
        harness.answer(400)
        let first = harness.produced
        let summaries = harness.takeSummaries()
        harness.pass(.milliseconds(100))
        harness.commitEnds(outcome)
        #expect(harness.others == [.abortTransaction])
        harness.abortEnds()
        harness.pass(.milliseconds(99))
        #expect(harness.takeOthers().isEmpty, "the next one waits a moment")
        harness.pass(.milliseconds(1))
        #expect(harness.takeOthers() == [.beginTransaction])
        #expect(harness.summaries == summaries)
        #expect(Set(harness.produced.map(\.id)).isDisjoint(with: first.map(\.id)))
        #expect(harness.calls.isEmpty)
        #expect(harness.engine.counters.calls == 2)
        for (id, _) in first { harness.fail(id, .other) }
        #expect(harness.takeOthers().isEmpty, "what is said of the former records is dropped")
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("records keep their order of settlement")
    func order() {
        let harness = EngineHarness.atomic()
        for user in ["a", "b", "c", "d"] { harness.event(user) }
        harness.answer(200)
        harness.answer(200)
        harness.pass(.milliseconds(100))
        harness.answer(200)
        harness.commitEnds(.abortable)
        harness.answer(200)
        let before = harness.produced.map { $0.production.slot }
        _ = harness.takeSummaries()
        harness.abortEnds()
        var after: [SlotID] = []
        while after.count < 4, harness.engine.load.events > 0 {
            harness.pass(.milliseconds(100))
            after += harness.produced.map { $0.production.slot }
            _ = harness.takeSummaries()
            harness.pass(.milliseconds(100))
            if after.count == 4 { #expect(harness.engine.commitPositions.map(\.offset) == [4]) }
            harness.commitEnds(.acknowledged)
        }
        #expect(after.count == 4)
        #expect(Array(after.prefix(2)) == before)
    }

    @Test("a record that the broker refuses dooms its transaction at once")
    func doomed() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        _ = harness.takeOthers()
        harness.fail(harness.produced[0].id, .other)
        #expect(harness.others == [.abortTransaction])
        harness.fail(harness.produced[1].id, .other)
        #expect(harness.others == [.abortTransaction], "the abort fails all that is on its way, which says nothing")
        harness.settle()
        _ = harness.takeSummaries()
        harness.pass(.seconds(1))
        #expect(harness.summaries.isEmpty)
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeSummaries().count == 3)
    }

    @Test("an abort that failed is requested again", arguments: [TransactionOutcome.failedForNow, .abortable])
    func abortAgain(outcome: TransactionOutcome) {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        #expect(harness.others == [.beginTransaction, .abortTransaction])
        harness.abortEnds(outcome)
        harness.pass(.milliseconds(99))
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.others == [.abortTransaction])
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction])
    }

    @Test("the pause between failing transactions grows to 5 s, and is forgotten with the first success")
    func pauses() {
        let harness = EngineHarness.atomic()
        harness.settle()
        var pauses: [Int64] = []
        for _ in 0..<9 {
            #expect(harness.takeOthers() == [.beginTransaction])
            harness.transactionFails()
            harness.abortEnds()
            let start = harness.time
            while !harness.others.contains(.beginTransaction) { harness.pass(.milliseconds(100)) }
            pauses.append(harness.time - start)
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.settle()
        _ = harness.takeOthers()
        harness.transactionFails()
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction])
    }

    @Test("offsets without records whose commit failed are committed later")
    func offsetsOnly() {
        let harness = EngineHarness.atomic()
        harness.record(nil)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.abortable)
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction, .commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
    }

    @Test("the commit waits for room in the producer's queue")
    func queueFull() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        let id = harness.produced[0].id
        harness.fail(id, .queueFull)
        harness.time += 9
        harness.pass(.zero)
        #expect(harness.produced.count == 2)
        harness.time += 91
        harness.pass(.zero)
        #expect(harness.produced.count == 3)
        #expect(harness.produced[2].id == id)
        harness.fail(id, .queueFull)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.beginTransaction])
        harness.pass(.milliseconds(10))
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
    }

    @Test("a record that waited for room when its transaction failed returns with all others")
    func queueFullThenAborted() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.fail(harness.produced[0].id, .queueFull)
        harness.transactionFails()
        _ = harness.takeSummaries()
        harness.pass(.milliseconds(10))
        #expect(harness.summaries.isEmpty)
        harness.abortEnds()
        harness.pass(.milliseconds(100))
        #expect(harness.takeSummaries().count == 2)
        harness.pass(.milliseconds(100))
        #expect(
            harness.takeOthers() == [.beginTransaction, .commit(sequence: 2)]
                || harness.engine.commitPositions.count == 1)
    }
}
