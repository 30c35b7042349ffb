import HeraldBytes
import HeraldEvents
import HeraldKernel
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore

@Suite("A partition whose map would outgrow its limit")
struct EngineFullPartitionTests {
    /// The first offset that does not fit into a bit set from 0 on.
    private static let farOffset = Int64(CompletionMap.payloadLimit * 8)

    /// An engine whose first event hangs, with enough events under way behind it that the map could outgrow its limit
    /// if the partition continued.
    private func almostFull(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        let harness = EngineHarness.atomic {
            $0.maxInFlight = 3_000
            change(&$0)
        }
        for number in 0..<2_000 { harness.event("u\(number)") }
        harness.skip(to: Self.farOffset)
        return harness
    }

    @Test("stops taking before that, and is no longer fetched")
    func full() {
        let harness = almostFull()
        let taken = harness.event("late")
        #expect(taken == .done)
        #expect(harness.takeOthers() == [.pause(partition: 0)])
        #expect(harness.engine.counters.accepted == 2_000)
        #expect(harness.engine.load.events == 2_000)
    }

    @Test("records read ahead behind the first refused one are no gap: they come again")
    func readAhead() {
        let harness = almostFull()
        for _ in 0..<10 { harness.event("late") }
        #expect(harness.engine.counters.accepted == 2_000)
        let next = harness.engine.nextOffset(of: 0)
        #expect(next == 2_000)
        harness.engine.endReached(of: 0, at: Self.farOffset + 10)
        let nextThen = harness.engine.nextOffset(of: 0)
        #expect(nextThen == 2_000, "an end that was read ahead says nothing either")
    }

    @Test("continues from that record when there is much room again")
    func goesOn() {
        let harness = almostFull()
        harness.event("late")
        harness.event("later")
        _ = harness.takeOthers()
        let hanging = harness.takeCall()
        for _ in 0..<800 { harness.answer(200) }
        harness.pass(.seconds(1))
        #expect(!harness.others.contains(.resume(partition: 0)), "it has some room, but not much")
        for _ in 0..<700 { harness.answer(200) }
        harness.pass(.zero)
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.resume(partition: 0), .rewind(partition: 0)])
        harness.skip(to: Self.farOffset + 1)
        harness.event("later")
        #expect(harness.engine.counters.accepted == 2_000)
        harness.skip(to: Self.farOffset)
        harness.event("late")
        harness.event("later")
        #expect(harness.engine.counters.accepted == 2_002)
        harness.answer(hanging, CallResult(status: 200))
        while !harness.calls.isEmpty { harness.answer(200) }
        // Events that waited for the previous commit are produced, and then committed, in transactions that grow.
        var last: [Int64] = []
        for _ in 0..<12 where harness.engine.load.events > 0 {
            harness.pass(.milliseconds(100))
            harness.pass(.zero)
            last = harness.engine.commitPositions.map(\.offset)
            harness.commitEnds(.acknowledged)
        }
        #expect(last == [Self.farOffset + 2])
    }

    @Test("is read again until that succeeds")
    func rewindsAgain() {
        let harness = almostFull()
        harness.event("late")
        while !harness.calls.isEmpty { harness.answer(200) }
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().contains(.rewind(partition: 0)))
        harness.event("keeps the sweep going", on: EngineHarness.bulk)
        harness.pass(.seconds(1))
        #expect(harness.takeOthers().contains(.rewind(partition: 0)))
    }

    @Test("is never full because of a gap alone, however wide", arguments: [30_000, 20_000_000, Int64(1) << 40])
    func gap(width: Int64) {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.skip(to: width)
        harness.event("a")
        #expect(harness.engine.counters.accepted == 2)
        #expect(!harness.takeOthers().contains(.pause(partition: 0)))
    }

    @Test("one slow user does not stop it, however far the others get")
    func slowUser() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 500 }
        harness.event("slow")
        let slow = harness.takeCall()
        for _ in 0..<100 {
            harness.skip(by: 9_000)
            for _ in 0..<100 { harness.event("quick\(harness.engine.counters.accepted)") }
            while !harness.calls.isEmpty { harness.answer(200) }
            harness.pass(.milliseconds(100))
            harness.commitEnds(.acknowledged)
        }
        #expect(harness.engine.counters.accepted == 1 + 100 * 100)
        harness.answer(slow, CallResult(status: 200))
        harness.pass(.milliseconds(100))
        harness.pass(.zero)
        let metadata = harness.engine.commitPositions.map(\.metadata)
        #expect(metadata.allSatisfy { $0.hasPrefix("h3b") && $0.utf8.count < 40 }, "nothing is done beyond it")
    }

    @Test("counts settled events as done, because the next commit contains them", arguments: [true, false])
    func settled(isCommitting: Bool) {
        let harness = almostFull()
        let hanging = harness.takeCall()
        if isCommitting {
            harness.answer(200)
            harness.pass(.milliseconds(100))
        }
        while !harness.calls.isEmpty { harness.answer(200) }
        let taken = harness.event("late")
        #expect(taken != .done)
        harness.answer(hanging, CallResult(status: 200))
    }

    @Test("is resumed before it leaves", arguments: [true, false])
    func resumed(isLost: Bool) {
        let harness = almostFull { $0.revokeTimeout = .zero }
        harness.event("late")
        _ = harness.takeOthers()
        if isLost {
            harness.lose()
        } else {
            harness.revoke()
            harness.pass(.zero)
        }
        #expect(harness.takeOthers().contains(.resume(partition: 0)))
    }

    @Test("that begins anew is neither paused nor waits for a record that no longer exists")
    func restarted() {
        let harness = almostFull()
        harness.event("late")
        _ = harness.takeOthers()
        harness.restart()
        #expect(harness.takeOthers() == [.resume(partition: 0)])
        harness.settle()
        harness.skip(to: Self.farOffset + 1)
        harness.event("a")
        #expect(harness.engine.counters.accepted == 2_002)
    }
}

@Suite("The room of a map")
struct CompletionRoomTests {
    @Test(
        "the offsets that the tracker accepts fit into a commit, whichever of them complete", arguments: UInt64(1)...6)
    func neverTruncated(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tracker = OffsetTracker(startingAt: 5)
        let size = Int(100 + random.next() % 4_000)
        // Sometimes none completes for long, sometimes one by one, sometimes anything in between.
        var next: Int64 = 5
        var open: [Int64] = []
        for step in 0..<40_000 {
            let isFilling = (step / 4_000) % 2 == 0
            let wide = random.next() % 50 == 0 ? Int64(random.next() % 400) : 0
            if open.count < size, random.next() % 10 < (isFilling ? 8 : 5), tracker.mayTake(next + wide) {
                next += wide
                if tracker.accept(next) == .new { open.append(next) }
                next += 1
            } else if open.count > 1 {
                // The first one hangs.
                let index = 1 + Int(random.next() % UInt64(open.count - 1))
                open.swapAt(index, open.count - 1)
                tracker.complete(open.removeLast())
            }
            guard step % 1_000 == 0 else { continue }
            expectWhole(tracker)
        }
        #expect(tracker.watermark == 5)
        #expect(tracker.distance > Int64(CompletionMap.payloadLimit * 8), "it went further than a bit set reaches")
        // The worst case: every second one completes.
        for (index, offset) in open.sorted().enumerated() where index % 2 == 1 { tracker.complete(offset) }
        expectWhole(tracker)
    }

    @Test("a map of an earlier owner is taken over and worked off without being cut", arguments: UInt64(1)...6)
    func inherited(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var map = CompletionMap()
        var position: Int64 = 1
        for _ in 0..<600 {
            let length = Int64(1 + random.next() % 200)
            map.add(position..<position + length)
            position += length + Int64(1 + random.next() % 3)
        }
        let whole = try #require(CompletionMap(text: map.text(committing: 0, of: .first), committed: 0, of: .first))
        #expect(whole == map)
        var tracker = OffsetTracker(startingAt: 0, done: map)
        var open: [Int64] = []
        for offset in 0..<position + 20_000 {
            while !tracker.mayTake(offset), open.count > 1 {
                tracker.complete(open.remove(at: 1 + Int(random.next() % UInt64(open.count - 1))))
            }
            guard tracker.mayTake(offset) else { return #expect(Bool(false), "\(offset) is never taken") }
            if tracker.accept(offset) == .new { open.append(offset) }
            if offset % 1_000 == 0 { expectWhole(tracker) }
        }
        #expect(tracker.watermark == 0)
    }

    @Test("a decided event counts as done, and no longer when it is left out again")
    func decided() {
        var tracker = OffsetTracker(startingAt: 0)
        for offset in Int64(0)..<2_000 { _ = tracker.accept(offset) }
        let far = Int64(CompletionMap.payloadLimit * 8)
        #expect(!tracker.mayTake(far))
        for _ in 0..<1_500 { tracker.decide() }
        #expect(tracker.mayTake(far))
        for _ in 0..<1_000 { tracker.undecide() }
        #expect(!tracker.mayTake(far))
        for offset in Int64(1)..<501 { tracker.completeAcknowledged(offset) }
        for offset in Int64(501)..<1_501 { tracker.complete(offset) }
        #expect(tracker.mayTake(far))
    }

    private func expectWhole(_ tracker: OffsetTracker, at location: SourceLocation = #_sourceLocation) {
        let map = tracker.completions
        let text = map.text(committing: tracker.watermark, of: .first)
        #expect(text.utf8.count <= CompletionMap.limit, sourceLocation: location)
        #expect(CompletionMap(text: text, committed: tracker.watermark, of: .first) == map, sourceLocation: location)
    }
}
