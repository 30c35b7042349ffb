import HeraldBytes
import TestSupport
import Testing

@testable import HeraldCore

@Suite("An offset tracker")
struct OffsetTrackerTests {
    @Test("starts where the assignment starts, with nothing to commit", arguments: [0, 1, 63, 64, 65, 1_000_003])
    func start(offset: Int64) {
        let tracker = OffsetTracker(startingAt: offset)
        #expect(tracker.watermark == offset)
        #expect(!tracker.hasUncommitted)
    }

    @Test("moves its watermark only over done offsets without a gap")
    func contiguous() {
        var tracker = OffsetTracker(startingAt: 10)
        for offset in Int64(10)..<15 { expectTake(&tracker, offset, true) }
        tracker.complete(12)
        tracker.complete(11)
        #expect(tracker.watermark == 10)
        tracker.complete(10)
        #expect(tracker.watermark == 13)
        tracker.complete(14)
        #expect(tracker.watermark == 13)
        tracker.complete(13)
        #expect(tracker.watermark == 15)
        #expect(tracker.distance == 0)
    }

    @Test("counts offsets that never arrive as done")
    func gaps() {
        var tracker = OffsetTracker(startingAt: 0)
        expectTake(&tracker, 0, true)
        expectTake(&tracker, 5, true)
        tracker.complete(0)
        #expect(tracker.watermark == 5)
        #expect(tracker.isDone(3))
        tracker.complete(5)
        #expect(tracker.watermark == 6)
    }

    @Test("passes a gap of any width while nothing is open")
    func wideGap() {
        var tracker = OffsetTracker(startingAt: 0)
        expectTake(&tracker, 4_000_000_000_000, true)
        #expect(tracker.watermark == 4_000_000_000_000)
        #expect(tracker.hasUncommitted)
        tracker.complete(4_000_000_000_000)
        #expect(tracker.watermark == 4_000_000_000_001)
    }

    @Test("refuses an offset that it has taken before")
    func repeated() {
        var tracker = OffsetTracker(startingAt: 7)
        expectTake(&tracker, 7, true)
        expectTake(&tracker, 7, false)
        expectTake(&tracker, 3, false)
    }

    @Test("skips exactly the offsets that an earlier owner has done")
    func doneBefore() {
        var map = CompletionMap()
        map.add(12..<14)
        map.add(200..<201)
        var tracker = OffsetTracker(startingAt: 10, done: map)
        for offset in Int64(10)..<15 { expectTake(&tracker, offset, offset != 12 && offset != 13) }
        tracker.complete(10)
        #expect(tracker.watermark == 11)
        tracker.complete(11)
        #expect(tracker.watermark == 14)
        #expect(tracker.isDone(200))
        #expect(!tracker.isDone(199))
        expectTake(&tracker, 200, false)
        tracker.complete(14)
        #expect(tracker.watermark == 201)
    }

    @Test("forgets a commit only when the broker has acknowledged it")
    func acknowledged() {
        var tracker = OffsetTracker(startingAt: 0)
        _ = tracker.accept(0)
        tracker.complete(0)
        #expect(tracker.hasUncommitted)
        let mark = tracker.mark
        _ = tracker.accept(1)
        tracker.complete(1)
        tracker.acknowledge(mark)
        #expect(tracker.hasUncommitted)
        tracker.acknowledge(tracker.mark)
        #expect(!tracker.hasUncommitted)
    }

    @Test("agrees with a plain set of numbers, whatever the order", arguments: UInt64(1)...8)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let start = Int64(random.next() % 300)
        var tracker = OffsetTracker(startingAt: start)
        var next = start
        var open: [Int64] = []
        var done: Set<Int64> = []
        for step in 0..<3_000 {
            if open.isEmpty || (random.next() % 100 < 55 && open.count < 900) {
                let skip = random.next() % 20 == 0 ? Int64(random.next() % 200) : 0
                for missing in next..<(next + skip) { done.insert(missing) }
                next += skip
                expectTake(&tracker, next, true)
                open.append(next)
                next += 1
            } else {
                let index = Int(random.next() % UInt64(open.count))
                open.swapAt(index, open.count - 1)
                let offset = open.removeLast()
                tracker.complete(offset)
                done.insert(offset)
            }
            guard step % 20 == 0 else { continue }
            var watermark = start
            if let lowest = open.min() { watermark = lowest } else { watermark = next }
            #expect(tracker.watermark == watermark)
        }
        for offset in start..<next { #expect(tracker.isDone(offset) == done.contains(offset)) }
        let text = tracker.completions.text(committing: tracker.watermark, of: .first)
        #expect(CompletionMap(text: text, committed: tracker.watermark, of: .first) == tracker.completions)
        let completed = Set(tracker.completions.done.joined())
        #expect(completed == done.filter { $0 >= tracker.watermark })
    }
}

/// Takes an offset and expects it to count as new, or not.
private func expectTake(
    _ tracker: inout OffsetTracker, _ offset: Int64, _ isNew: Bool, at location: SourceLocation = #_sourceLocation
) {
    let taken = tracker.accept(offset)
    #expect((taken == .new) == isNew, sourceLocation: location)
}
