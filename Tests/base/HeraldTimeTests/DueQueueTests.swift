import HeraldBytes
import HeraldTime
import Testing

@Suite("The queue of due times")
struct DueQueueTests {
    @Test("returns every element in due order, and none early", arguments: UInt64(1)...10)
    func order(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = DueQueue<Int>(capacity: 4)
        var expected: [Int64] = []
        for number in 0..<500 {
            let due = Int64(random.next() % 1_000)
            expected.append(due)
            let isEarliest = queue.add(.init(due: MonotonicTime(nanoseconds: due), purpose: number))
            #expect(isEarliest == (due < expected.dropLast().min() ?? .max))
        }
        expected.sort()
        #expect(queue.earliest == MonotonicTime(nanoseconds: expected[0]))
        let isEarly = queue.takeDue(at: MonotonicTime(nanoseconds: expected[0] - 1)) != nil
        #expect(!isEarly)
        var taken: [Int64] = []
        while let entry = queue.takeDue(at: MonotonicTime(nanoseconds: 1_000)) { taken.append(entry.due.nanoseconds) }
        #expect(taken == expected)
        #expect(queue.isEmpty)
    }
}
