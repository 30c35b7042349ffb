import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Transactions that fail")
struct EngineAbortTests {
    @Test(
        "the same records come again in the next one, under other names and without a call",
        arguments: [CommitOutcome.abortable, .refused])
    func again(outcome: CommitOutcome) {
        let harness = EngineHarness.atomic()
        harness.event("a", "apns,gcm")
        harness.answer(200)
        harness.answer(400)
        let first = harness.produced
        let summaries = harness.takeSummaries()
        harness.pass(100)
        harness.commitEnds(outcome)
        #expect(harness.others == [.abort])
        harness.abortEnds()
        harness.pass(99)
        #expect(harness.takeOthers().isEmpty, "the next one waits a moment")
        harness.pass(1)
        #expect(harness.takeOthers() == [.begin])
        #expect(harness.summaries == summaries)
        #expect(Set(harness.produced.map(\.id)).isDisjoint(with: first.map(\.id)))
        #expect(harness.calls.isEmpty)
        #expect(harness.engine.counters.calls == 2)
        for (id, _) in first { harness.fail(id, .other) }
        #expect(harness.takeOthers().isEmpty, "what is said of the former records is dropped")
        harness.pass(100)
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("records keep their order: what was settled later comes later")
    func order() {
        let harness = EngineHarness.atomic()
        for user in ["a", "b", "c", "d"] { harness.event(user) }
        harness.answer(200)
        harness.answer(200)
        harness.pass(100)
        harness.answer(200)
        harness.commitEnds(.abortable)
        harness.answer(200)
        let slots = { harness.produced.map { $0.production.slot } }
        let before = slots()
        _ = harness.takeSummaries()
        harness.abortEnds()
        harness.pass(100)
        #expect(slots().count == 4)
        #expect(Array(slots().prefix(2)) == before)
        harness.pass(100)
        #expect(harness.engine.commitPositions.map(\.offset) == [4])
    }

    @Test("a record that the broker refuses dooms its transaction at once")
    func doomed() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        _ = harness.takeOthers()
        harness.fail(harness.produced[0].id, .other)
        #expect(harness.others == [.abort])
        harness.fail(harness.produced[1].id, .other)
        #expect(harness.others == [.abort], "the abort fails all that is on its way, which says nothing")
        harness.settle()
        _ = harness.takeSummaries()
        harness.pass(1_000)
        #expect(harness.summaries.isEmpty)
        harness.abortEnds()
        harness.pass(100)
        #expect(harness.takeSummaries().count == 3)
    }

    @Test("an abort that did not work is asked for again", arguments: [CommitOutcome.failedForNow, .abortable])
    func abortAgain(outcome: CommitOutcome) {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.transactionFails()
        #expect(harness.others == [.begin, .abort])
        harness.abortEnds(outcome)
        harness.pass(99)
        #expect(harness.takeOthers().isEmpty)
        harness.pass(1)
        #expect(harness.others == [.abort])
        harness.abortEnds()
        harness.pass(100)
        #expect(harness.takeOthers() == [.begin])
    }

    @Test("the pause between transactions that fail grows to 5 s, and is forgotten with the first that works")
    func pauses() {
        let harness = EngineHarness.atomic()
        harness.settle()
        var pauses: [Int64] = []
        for _ in 0..<9 {
            #expect(harness.takeOthers() == [.begin])
            harness.transactionFails()
            harness.abortEnds()
            let start = harness.time
            while !harness.others.contains(.begin) { harness.pass(100) }
            pauses.append(harness.time - start)
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
        harness.pass(100)
        harness.commitEnds(.acknowledged)
        harness.settle()
        _ = harness.takeOthers()
        harness.transactionFails()
        harness.abortEnds()
        harness.pass(100)
        #expect(harness.takeOthers() == [.begin])
    }

    @Test("offsets without records that could not be committed are committed later")
    func offsetsOnly() {
        let harness = EngineHarness.atomic()
        harness.record(nil)
        harness.pass(100)
        harness.commitEnds(.abortable)
        harness.abortEnds()
        harness.pass(100)
        #expect(harness.takeOthers() == [.begin, .commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
    }

    @Test("the commit waits for room in the producer's queue")
    func queueFull() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        let id = harness.produced[0].id
        harness.fail(id, .queueFull)
        harness.time += 9
        harness.pass(0)
        #expect(harness.produced.count == 2)
        harness.time += 91
        harness.pass(0)
        #expect(harness.produced.count == 3)
        #expect(harness.produced[2].id == id)
        harness.fail(id, .queueFull)
        harness.pass(0)
        #expect(harness.takeOthers() == [.begin])
        harness.pass(10)
        harness.pass(0)
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
    }

    @Test("a record that waited for room when its transaction failed comes again with all others")
    func queueFullThenAborted() {
        let harness = EngineHarness.atomic()
        harness.settle(2)
        harness.fail(harness.produced[0].id, .queueFull)
        harness.transactionFails()
        _ = harness.takeSummaries()
        harness.pass(10)
        #expect(harness.summaries.isEmpty)
        harness.abortEnds()
        harness.pass(100)
        #expect(harness.takeSummaries().count == 2)
        harness.pass(100)
        #expect(harness.takeOthers() == [.begin, .commit(sequence: 2)] || harness.engine.commitPositions.count == 1)
    }
}

@Suite("Records that are too large for a transaction")
struct EngineTooLargeTests {
    /// Lets the transaction be aborted that a record has doomed, and the next one begin.
    private func nextTransaction(_ harness: EngineHarness) {
        _ = harness.takeSummaries()
        harness.abortEnds()
        while !harness.others.contains(.begin) { harness.pass(100) }
    }

    private func id(of kind: Production.Kind, _ harness: EngineHarness) throws -> ProductionID {
        try #require(harness.produced.first { $0.production.kind == kind }).id
    }

    @Test("diagnostics are left out, then a retry becomes a dead letter, then the event stays outside")
    func ladder() throws {
        let harness = EngineHarness.atomic { $0.retry = RetryPolicy(immediate: 0, delays: [1_000]) }
        harness.event("u")
        harness.answer(CallResult(status: 503, detail: "busy"))
        #expect(harness.headers(at: 0)["herald-history"] != nil)
        harness.fail(try id(of: .retry, harness), .tooLarge)
        nextTransaction(harness)
        #expect(harness.summaries == ["retry 1s apns transient 1"])
        #expect(harness.headers(at: 0)["herald-history"] == nil)
        #expect(harness.headers(at: 0)["herald-detail"] == nil)
        harness.fail(try id(of: .retry, harness), .tooLarge)
        nextTransaction(harness)
        #expect(harness.summaries == ["dead apns oversized 503", "result apns dead-lettered"])
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        #expect(harness.others.contains(.notice(.recordRefused)))
        harness.abortEnds()
        #expect(harness.engine.load.events == 1, "it is never given up")
    }

    /// An event whose dead letter is refused whatever is left out of it, with its transaction being aborted.
    private func refused(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineHarness {
        let harness = EngineHarness.atomic(change)
        harness.event("big")
        harness.answer(400)
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        nextTransaction(harness)
        harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        return harness
    }

    @Test("an event that is refused whatever is done is left out for growing pauses, while others commit")
    func leftOut() throws {
        let harness = try refused()
        var pauses: [Int64] = []
        for round in 0..<9 {
            harness.abortEnds()
            let left = harness.time
            _ = harness.takeSummaries()
            harness.settle()
            while !harness.produced.contains(where: { $0.production.kind == .deadLetter }) {
                harness.pass(100)
                if harness.others.contains(where: { if case .commit = $0 { true } else { false } }) {
                    let position = harness.engine.commitPositions[0]
                    #expect(position.offset == 0, "nothing is committed beyond it but in the map")
                    let map = CompletionMap(text: position.metadata, committed: 0)
                    #expect(map?.done == [1..<Int64(round) + 2])
                    harness.commitEnds(.acknowledged)
                }
            }
            pauses.append(harness.time - left)
            harness.fail(try id(of: .deadLetter, harness), .tooLarge)
        }
        #expect(pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    }

    @Test("an event whose pause ends while its transaction is still being aborted is recorded once")
    func pauseEndsDuringAbort() throws {
        let harness = try refused()
        harness.settle()
        for _ in 0..<20 {
            harness.abortEnds(.failedForNow)
            harness.pass(100)
        }
        _ = harness.takeSummaries()
        harness.abortEnds()
        harness.pass(1_000)
        #expect(
            harness.summaries == ["result apns dead-lettered", "dead apns rejected 400", "result apns delivered"])
        harness.pass(100)
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("all records that are too large are heard of in one transaction, not one in each")
    func many() throws {
        let harness = EngineHarness.atomic()
        for user in ["a", "b", "c"] { harness.event(user) }
        for _ in 0..<3 { harness.answer(CallResult(status: 400, detail: "no")) }
        let letters = harness.produced.filter { $0.production.kind == .deadLetter }
        for letter in letters { harness.fail(letter.id, .tooLarge) }
        nextTransaction(harness)
        let trimmed = harness.produced.filter { $0.production.kind == .deadLetter && $0.production.isTrimmed }
        #expect(trimmed.count == 3)
    }

    @Test("two records of an event that are refused leave it out once")
    func twoRecords() throws {
        let harness = try refused()
        harness.fail(try id(of: .result, harness), .tooLarge)
        harness.abortEnds()
        _ = harness.takeSummaries()
        harness.pass(1_000)
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns rejected 400"])
    }

    @Test("when the partitions go it may be mended until the deadline, and is given back then")
    func stopped() throws {
        let harness = try refused { $0.revokeTimeout = 500 }
        harness.abortEnds()
        harness.revoke()
        #expect(harness.takeOthers() == [])
        harness.pass(500)
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
    }
}
