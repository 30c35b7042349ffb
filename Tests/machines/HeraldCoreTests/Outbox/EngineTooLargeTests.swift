import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Records that are too large for a transaction")
struct EngineTooLargeTests {
    private func id(of kind: Production.Kind, _ harness: EngineHarness) throws -> ProductionID {
        try #require(harness.produced.first { $0.production.kind == kind }).id
    }

    /// Aborts the transaction that a record has doomed; the next begins at once.
    private func nextTransaction(_ harness: EngineHarness) {
        _ = harness.takeSummaries()
        harness.abortEnds()
        begin(harness)
    }

    /// Begins the next transaction, which is committed if no other event may join.
    private func begin(_ harness: EngineHarness) {
        harness.pass(.zero)
        harness.pass(.zero)
    }

    @Test("a record that is known not to fit is made smaller in the same transaction, without other effects")
    func doesNotFit() throws {
        let harness = EngineHarness.atomic { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1)]) }
        harness.event("other")
        harness.answer(200)
        harness.event("u")
        harness.answer(503)
        let retry = try id(of: .retry, harness)
        _ = harness.takeSummaries()
        for _ in 0..<6 { harness.fail(retry, .doesNotFit) }
        #expect(
            harness.summaries == [
                "retry 1s apns transient 1", "retry 1s apns transient 1", "retry 10s apns transient 1",
                "retry 10s apns transient 1", "retry 10s apns transient 1", "dead apns oversized 503",
                "result apns dead-lettered",
            ])
        harness.pass(.milliseconds(100))
        #expect(harness.takeOthers() == [.beginTransaction, .commit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
    }

    @Test("a record that the broker refuses is tried alone, and others go into the next transaction at once")
    func isolated() throws {
        let harness = EngineHarness.atomic()
        harness.event("big")
        harness.answer(CallResult(status: 400, detail: "no"))
        harness.settle(3)
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        nextTransaction(harness)
        // It was not alone: perhaps it was not the cause.
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns rejected 400"])
        #expect(harness.headers(at: 1)["herald-omitted"] == nil)
        #expect(harness.others == [.beginTransaction, .commit(sequence: 1)])
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        harness.commitEnds(.abortable)
        nextTransaction(harness)
        #expect(harness.takeSummaries() == Array(repeating: "result apns delivered", count: 3))
        harness.pass(.milliseconds(100))
        #expect(harness.engine.commitPositions.map(\.offset) == [0])
        harness.commitEnds(.acknowledged)
        // The others are durable; now it is alone again, and smaller.
        begin(harness)
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns rejected 400"])
        #expect(harness.headers(at: 1)["herald-omitted"] == "history,detail")
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("a producer lost as the event's own transaction begins: the event is tried alone all the same")
    func producerLost() throws {
        let harness = EngineHarness.atomic()
        harness.event("big")
        harness.answer(CallResult(status: 400, detail: "no"))
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        _ = harness.takeSummaries()
        harness.abortEnds()
        harness.pass(.zero)
        #expect(harness.takeSummaries() == ["result apns dead-lettered", "dead apns rejected 400"])
        harness.producerLost()
        harness.settle()
        harness.producerReady()
        // Its own transaction failed, and the others have the next.
        harness.pass(.seconds(5))
        #expect(harness.takeSummaries() == ["result apns delivered"])
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        begin(harness)
        #expect(harness.takeSummaries() == ["result apns dead-lettered", "dead apns rejected 400"])
    }

    @Test("four events whose records are always refused do not keep others from being recorded")
    func four() throws {
        let harness = EngineHarness.atomic()
        for user in ["a", "b", "c", "d"] { harness.event(user) }
        for _ in 0..<4 { harness.answer(CallResult(status: 400, detail: "no")) }
        harness.settle(3)
        let begun = harness.time
        var recorded = 0
        while recorded < 3 {
            recorded = 0
            let letters = harness.produced.filter { $0.production.kind == .deadLetter }
            for letter in letters { harness.fail(letter.id, .tooLarge) }
            if letters.isEmpty, harness.others.contains(where: { if case .commit = $0 { true } else { false } }) {
                recorded = harness.summaries.count { $0 == "result apns delivered" }
                harness.commitEnds(.acknowledged)
            } else if harness.others.contains(.abortTransaction) {
                nextTransaction(harness)
            } else {
                harness.commitEnds(.abortable)
                harness.pass(.milliseconds(10))
            }
            #expect(harness.time < begun + 2_000)
            guard harness.time < begun + 2_000 else { return }
        }
    }

    /// An event whose dead letter is refused in every form, with its transaction being aborted.
    private func hopeless(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineHarness {
        let harness = EngineHarness.atomic(change)
        harness.event("big")
        harness.answer(400)
        try refuse(harness)
        return harness
    }

    /// Refuses the dead letter in every form.
    private func refuse(_ harness: EngineHarness) throws {
        for _ in 0..<5 { harness.fail(try id(of: .deadLetter, harness), .doesNotFit) }
    }

    @Test("an event that is refused in every form is left out for growing pauses, while others commit")
    func leftOut() throws {
        let harness = try hopeless()
        #expect(harness.others.contains(.notice(.recordRefused(topic: "notifications.dead-letter"))))
        var pauses: [Int64] = []
        for round in 0..<9 {
            harness.abortEnds()
            let left = harness.time
            _ = harness.takeSummaries()
            harness.settle()
            while !harness.produced.contains(where: { $0.production.kind == .deadLetter }),
                harness.time < left + 100_000
            {
                harness.pass(.milliseconds(100))
                if harness.others.contains(where: { if case .commit = $0 { true } else { false } }),
                    !harness.produced.contains(where: { $0.production.kind == .deadLetter })
                {
                    let position = harness.engine.commitPositions[0]
                    #expect(position.offset == 0, "nothing is committed beyond it but in the map")
                    let map = CompletionMap(text: position.metadata, committed: 0, of: .first)
                    #expect(map?.done == [1..<Int64(round) + 2])
                    harness.commitEnds(.acknowledged)
                }
            }
            pauses.append(harness.time - left)
            // Also while it is tried again.
            #expect(harness.engine.refusedEvents == ["notifications.dead-letter": 1])
            try refuse(harness)
        }
        #expect(pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    }

    @Test("two refused records of an event isolate it once")
    func twoRecords() throws {
        let harness = EngineHarness.atomic()
        harness.event("u", "apns,gcm")
        harness.answer(400)
        harness.answer(404)
        let letters = harness.produced.filter { $0.production.kind == .deadLetter }.map(\.id)
        for letter in letters { harness.fail(letter, .tooLarge) }
        nextTransaction(harness)
        #expect(harness.summaries.count == 4)
        harness.pass(.milliseconds(100))
        #expect(harness.summaries.count == 4)
    }

    @Test("during a revocation it may succeed until the deadline, and is then given back")
    func stopped() throws {
        let harness = try hopeless { $0.revokeTimeout = .milliseconds(500) }
        harness.abortEnds()
        harness.revoke()
        _ = harness.takeOthers()
        harness.pass(.milliseconds(500))
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
        #expect(harness.engine.refusedEvents.isEmpty)
    }
}
