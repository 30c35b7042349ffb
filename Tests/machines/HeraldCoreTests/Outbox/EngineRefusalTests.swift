import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Records that the broker refuses")
struct EngineRefusalTests {
    /// Plays the broker until no call or commit is left: it refuses a transaction, and each of its records, when one of
    /// its events is among `culprits`.
    ///
    /// - Returns: the number of transactions.
    private func play(_ harness: EngineHarness, for time: Int64, culprits: (ProductionID) -> Bool) -> Int {
        let end = harness.time + time
        var transactions = 0
        while harness.time < end {
            transactions += harness.others.count { $0 == .beginTransaction }
            if harness.others.contains(where: { if case .commit = $0 { true } else { false } }) {
                let records = harness.takeProduced()
                let isRefused = records.contains(where: culprits)
                if isRefused { for record in records { harness.fail(record, .refused) } }
                harness.commitEnds(isRefused ? .abortable : .acknowledged)
            } else if harness.others.contains(.abortTransaction) {
                _ = harness.takeProduced()
                harness.abortEnds()
            } else {
                _ = harness.takeOthers()
                harness.pass(.milliseconds(10))
            }
        }
        return transactions
    }

    private func isOf(_ slots: Set<Int32>, _ harness: EngineHarness) -> (ProductionID) -> Bool {
        { harness.engine.production($0).map { slots.contains($0.slot.index) } ?? false }
    }

    private func slots(_ harness: EngineHarness) -> [Int32] { harness.produced.map(\.production.slot.index) }

    @Test("two among forty: the others are durable after some transactions, and later events at once")
    func two() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 100 }
        harness.settle(40)
        harness.pass(.milliseconds(100))
        let slots = slots(harness)
        let culprits = isOf([slots[7], slots[29]], harness)
        #expect(play(harness, for: 1_500, culprits: culprits) <= 2 * 3 * 6 + 4)
        #expect(harness.engine.load.events == 2)
        harness.settle(10)
        _ = play(harness, for: 300, culprits: culprits)
        #expect(harness.engine.load.events == 2)
        #expect(harness.engine.refusingTopic == nil)
        _ = play(harness, for: 70_000) { _ in false }
        #expect(harness.engine.load.events == 0)
    }

    @Test("a topic that takes nothing is named, calls wait with few exceptions, few transactions are tried")
    func topic() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 100 }
        harness.settle(40)
        _ = play(harness, for: 2_000) { _ in true }
        #expect(harness.engine.refusingTopic?.name == "notifications.results")
        #expect(play(harness, for: 60_000, culprits: { _ in true }) <= 2 * 30 + 2)
        for number in 0..<20 { harness.event("late-\(number)") }
        #expect(harness.calls.count <= 1)

        // The topic works again.
        let transactions = play(harness, for: 3_000) { _ in false }
        #expect(harness.engine.refusingTopic == nil)
        #expect(transactions <= 2 + 2 * 6)
        #expect(harness.engine.load.events == 20)
        #expect(harness.calls.count == 20)
    }

    @Test("a topic that takes one of ten is named and holds calls until mended; one in two is no evidence")
    func nearlyAll() {
        for (share, isOut) in [(10, true), (2, false)] {
            let harness = EngineHarness.atomic { $0.maxInFlight = 200 }
            harness.settle(100)
            let culprits: (ProductionID) -> Bool = { id in
                harness.engine.production(id).map { Int($0.slot.index) % share != 0 } ?? false
            }
            _ = play(harness, for: 5_000, culprits: culprits)
            #expect((harness.engine.refusingTopic != nil) == isOut, "one of \(share)")
            #expect(harness.engine.load.events >= (isOut ? 90 : 50))
            for number in 0..<20 { harness.event("late-\(number)") }
            #expect(isOut ? harness.calls.count <= 1 : harness.calls.count == 20)
            while !harness.calls.isEmpty { harness.answer(200) }

            // Repaired: the few that wait are enough to show it.
            _ = play(harness, for: 70_000) { _ in false }
            #expect(harness.engine.refusingTopic == nil)
            while !harness.calls.isEmpty { harness.answer(200) }
            _ = play(harness, for: 3_000) { _ in false }
            #expect(harness.engine.load.events == 0)
        }
    }

    @Test("many culprits in a row do not delay the next event")
    func falseAlarm() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 100 }
        harness.settle(20)
        harness.pass(.milliseconds(100))
        let culprits = isOf(Set(slots(harness)), harness)
        _ = play(harness, for: 3_000, culprits: culprits)
        #expect(harness.engine.refusingTopic != nil)
        harness.pass(.seconds(60))
        harness.event("well")
        #expect(harness.calls.count == 1)
        harness.answer(200)
        _ = play(harness, for: 3_000, culprits: culprits)
        #expect(harness.engine.load.events == 20)
    }

    @Test("without transactions they are offered again one by one, and a topic that takes nothing holds calls")
    func plain() {
        let harness = EngineHarness { $0.maxInFlight = 100 }
        harness.settle(10)
        for _ in 0..<2 {
            for record in harness.takeProduced() { harness.fail(record, .refused) }
            harness.pass(.seconds(10))
        }
        #expect(harness.engine.refusingTopic?.name == "notifications.results")
        harness.acknowledgeAll()
        #expect(harness.engine.refusingTopic == nil)
        #expect(harness.engine.load.records == 0)
    }
}

@Suite("The number of records that brokers take in a transaction's time")
struct EngineRoomTests {
    /// The number of records in the next transaction, which ends in `outcome`.
    private func next(_ harness: EngineHarness, after wait: Milliseconds, _ outcome: TransactionOutcome) -> Int {
        harness.pass(.seconds(5))
        harness.pass(.milliseconds(100))
        let count = harness.takeProduced().count
        harness.pass(wait)
        harness.commitEnds(outcome)
        if outcome == .abortable { harness.abortEnds() }
        _ = harness.takeOthers()
        return count
    }

    @Test("after an abort the next transaction has half the size, down to one event, then twice the size again")
    func halves() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 200 }
        harness.settle(40)
        var sizes = [next(harness, after: .seconds(8), .abortable)]
        while sizes.last != 1 { sizes.append(next(harness, after: .seconds(8), .abortable)) }
        #expect(sizes == [40, 20, 10, 5, 2, 1])
        sizes = (0..<5).map { _ in next(harness, after: .zero, .acknowledged) }
        #expect(sizes == [1, 2, 4, 8, 16])
        #expect(next(harness, after: .zero, .acknowledged) == 9)
        #expect(harness.engine.load == (0, 0, 0))
        #expect(harness.engine.counters.calls == 40)
    }

    @Test("a slow transaction does not let the next one grow")
    func slow() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 200 }
        harness.settle(60)
        _ = next(harness, after: .seconds(8), .abortable)
        #expect(next(harness, after: .seconds(4), .acknowledged) == 30)
        #expect(next(harness, after: .seconds(4), .acknowledged) == 30)
    }

    @Test("no call begins while settled events wait for their turn")
    func exposure() {
        let harness = EngineHarness.atomic {
            $0.maxInFlight = 200
            $0.maxUnrecorded = .seconds(1)
        }
        harness.settle(40)
        _ = next(harness, after: .seconds(8), .abortable)
        _ = next(harness, after: .zero, .acknowledged)
        harness.event("late")
        #expect(harness.calls.isEmpty)
        while harness.calls.isEmpty, harness.engine.load.events > 1 { _ = next(harness, after: .zero, .acknowledged) }
        #expect(harness.calls.count == 1)
    }
}
