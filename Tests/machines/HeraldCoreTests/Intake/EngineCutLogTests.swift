import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A log that was cut off")
struct EngineCutLogTests {
    /// Answers that the partition holds `low` to `high`, where records younger than all taken ones begin at `younger`.
    private func ends(_ harness: EngineHarness, low: Int64 = 0, at high: Int64, younger: Int64?) -> OffsetReset {
        let question = RangeQuestion(
            reading: 0, wanted: harness.engine.nextOffset(of: 0) ?? 0, newest: harness.engine.newestTaken(of: 0))
        return harness.engine.outOfRange(
            0, low: low, high: high, younger: younger, answering: question, reading: 0)
    }

    /// The passed-over ranges with their causes.
    private func passed(_ harness: EngineHarness) -> [(PassedOver.Cause, Range<Int64>)] {
        harness.pass(.zero)
        return harness.takeOthers().compactMap { action in
            guard case .notice(.passedOver(let passed)) = action else { return nil }
            return (passed.cause, passed.offsets)
        }
    }

    @Test("names the missing records: how many of them were taken, and how many are unknown")
    func gone() {
        let harness = EngineHarness()
        harness.settle(10)
        harness.acknowledgeAll()
        let question = RangeQuestion(reading: 0, wanted: 10, newest: harness.engine.newestTaken(of: 0))
        _ = harness.engine.outOfRange(0, low: 0, high: 6, reach: 14, answering: question, reading: 0)
        harness.pass(.zero)
        let passed = harness.takeOthers().compactMap { action -> PassedOver? in
            guard case .notice(.passedOver(let passed)) = action else { return nil }
            return passed
        }
        #expect(passed.map(\.gone) == [6..<14] && passed.map(\.accepted) == [4] && passed.map(\.unknown) == [4])
    }

    @Test("Missing records that an earlier owner has done beyond its offset have outcomes")
    func goneBeyond() {
        var map = CompletionMap()
        map.add(12..<14)
        map.add(16..<17)
        let tracker = OffsetTracker(startingAt: 10, done: map)
        #expect(
            tracker.accepted(of: 6..<20) == 7 && tracker.accepted(of: 0..<3) == 3 && tracker.accepted(of: 15..<16) == 0)
    }

    private func evidence(of position: CommittedPosition) -> LogEvidence? {
        CompletionMap(text: position.metadata, committed: position.offset, of: .first)?.evidence
    }

    private func metadata(
        newest: Int64, from begin: Int64 = 0, committed: Int64, done: Range<Int64>? = nil
    ) -> String {
        var map = CompletionMap()
        if let done { map.add(done) }
        map.evidence = LogEvidence(newest: newest, begin: begin)
        return map.text(committing: committed, of: .first)
    }

    private func harness(at offset: Int64, metadata: String = "") -> EngineHarness {
        let harness = EngineHarness()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: offset, metadata: metadata)
        // It had the partition before, at its first offset.
        _ = passed(harness)
        return harness
    }

    @Test("continues at its end: no event is called again, and new ones are called")
    func cut() {
        let harness = EngineHarness()
        harness.settle(10)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        harness.commitEnds(.acknowledged)
        #expect(ends(harness, at: 6, younger: nil) == .cut(younger: nil, isProven: true))
        let passed = passed(harness)
        #expect(passed.map(\.0) == [.cut] && passed.map(\.1) == [0..<6])
        #expect(harness.engine.nextOffset(of: 0) == 6)
        harness.skip(to: 6)
        harness.event("new")
        #expect(harness.calls.count == 1)
    }

    @Test("Records appended before its end was read are called: they begin with the first younger record")
    func regrown() {
        let harness = EngineHarness()
        harness.settle(10)
        harness.acknowledgeAll()
        let newest = harness.time
        // The end of another program's transaction is at 4, written by a clock that is ahead; new records begin at 6.
        #expect(ends(harness, at: 8, younger: 4) == .cut(younger: 4, isProven: true))
        #expect(harness.engine.readOffset(of: 0) == 4)
        harness.skip(to: 5)
        harness.record(nil)
        #expect(harness.engine.counters.tombstones == 0, "it is not younger")
        harness.time = newest + 1
        harness.event("new")
        harness.event("newer")
        #expect(harness.calls.count == 2)
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [7])
    }

    @Test("Unfinished events below the cut stay unfinished; those above it end, without an offset")
    func underWay() {
        let harness = EngineHarness.atomic()
        for name in ["a", "b", "c", "d"] { harness.event(name) }
        let calls = (0..<4).map { _ in harness.takeCall() }
        harness.answer(calls[1], CallResult(status: 200))
        harness.answer(calls[3], CallResult(status: 200))
        _ = ends(harness, at: 3, younger: nil)
        harness.pass(.milliseconds(200))
        harness.commitEnds(.acknowledged)
        harness.pass(.milliseconds(200))
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.commitPositions.map(\.offset) == [] || harness.engine.commitPositions[0].offset == 0)
        harness.answer(calls[0], CallResult(status: 200))
        harness.answer(calls[2], CallResult(status: 200))
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [3])
        harness.commitEnds(.acknowledged)
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("Without evidence it continues at its end, too, and reports that the outcomes are unknown")
    func unproven() {
        let harness = harness(at: 10)
        #expect(ends(harness, at: 6, younger: nil) == .cut(younger: nil, isProven: false))
        let passed = passed(harness)
        #expect(passed.map(\.0) == [.unproven] && passed.map(\.1) == [0..<6])
        harness.skip(to: 6)
        harness.event("new")
        #expect(harness.calls.count == 1)
    }

    @Test("A record with a time stamp of its own, from before the first evidence, proves nothing")
    func earlier() {
        let harness = harness(at: 10)
        harness.skip(to: 10)
        harness.settle()
        #expect(ends(harness, at: 8, younger: 3) == .cut(younger: nil, isProven: false))
    }

    @Test("Events that an earlier owner has done beyond the offset are as good a proof as taken ones")
    func doneByOthers() {
        let harness = harness(at: 5, metadata: metadata(newest: -1, committed: 5, done: 6..<8))
        harness.skip(to: 6)
        #expect(harness.engine.newestTaken(of: 0) == nil)
        #expect(harness.event("done") == .done)
        #expect(harness.engine.newestTaken(of: 0) != nil)
    }

    @Test("In an empty log nothing is passed over")
    func empty() {
        let harness = harness(at: 10)
        #expect(ends(harness, at: 0, younger: nil) == .recreated(wanted: 10))
        #expect(passed(harness).isEmpty)
    }

    @Test("The newest time stamp is in the commit, and stays there when older ones follow")
    func noted() throws {
        let harness = EngineHarness()
        harness.settle()
        let newest = harness.time
        harness.time -= 5_000
        harness.settle()
        harness.time += 5_000
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        let position = try #require(harness.engine.commitPositions.first)
        #expect(evidence(of: position) == LogEvidence(newest: newest, begin: 0))
    }

    @Test("A log that has grown past the committed offset shows in a younger record below it, which is called")
    func replaced() {
        let harness = harness(at: 10, metadata: metadata(newest: 1_000_000_000, committed: 10))
        harness.skip(to: 7)
        harness.event("old")
        #expect(harness.calls.isEmpty)
        harness.time += 1
        harness.event("new")
        let passed = passed(harness)
        #expect(passed.map(\.0) == [.replaced] && passed.map(\.1) == [8..<10])
        harness.event("newer")
        #expect(harness.calls.count == 2)
        #expect(harness.engine.nextOffset(of: 0) == 10)
    }

    @Test("A younger record below the end of an earlier owner's map voids the map from there on", arguments: [10, 12])
    func voidMap(first: Int64) {
        let harness = harness(at: 10, metadata: metadata(newest: 1_000_000_000, committed: 10, done: 12..<15))
        harness.skip(to: 10)
        for offset in Int64(10)..<15 {
            if offset == first { harness.time += 1 }
            harness.event("\(offset)")
        }
        #expect(harness.calls.count == (first == 10 ? 5 : 2 + 3))
        #expect(passed(harness).map(\.1) == [first..<first + 1])
    }

    @Test("Without a younger record, the offsets of an earlier owner's map stay done")
    func keptMap() {
        let harness = harness(at: 10, metadata: metadata(newest: 1_000_000_000, committed: 10, done: 12..<15))
        harness.skip(to: 10)
        for offset in 10..<15 { harness.event("\(offset)") }
        harness.time += 1
        harness.event("15")
        #expect(harness.calls.count == 3)
        #expect(passed(harness).isEmpty)
    }

    @Test("Where it has grown past the taken records, records that may be new are read again")
    func doubtful() {
        let harness = EngineHarness()
        harness.settle(10)
        harness.acknowledgeAll()
        #expect(ends(harness, at: 12, younger: 6) == .doubtful(from: 6))
        #expect(harness.engine.readOffset(of: 0) == 6)
        // The end of a transaction is at 6.
        harness.skip(to: 7)
        for offset in 7..<9 { harness.event("\(offset)") }
        #expect(harness.calls.isEmpty && harness.engine.readOffset(of: 0) == 9)
        harness.time += 1
        harness.event("9")
        harness.event("10")
        #expect(harness.calls.count == 2)
        #expect(passed(harness).map(\.1) == [9..<10])
    }

    @Test("Events taken before the first evidence contradict nothing")
    func before() {
        let harness = harness(at: 10, metadata: metadata(newest: 5, from: 9, committed: 10))
        harness.skip(to: 8)
        harness.event("older")
        #expect(harness.calls.isEmpty)
        harness.event("new")
        #expect(harness.calls.count == 1)
    }

    @Test("Offsets that another program has committed are counted; another worker's are not")
    func stranger() {
        let harness = EngineHarness()
        harness.settle(3)
        harness.acknowledgeAll()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 8)
        let first = passed(harness)
        #expect(first.map(\.0) == [.foreign] && first.map(\.1) == [3..<8])
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 12, metadata: metadata(newest: 7, committed: 12))
        #expect(passed(harness).isEmpty)
    }
}
