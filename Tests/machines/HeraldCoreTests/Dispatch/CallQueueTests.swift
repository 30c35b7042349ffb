import HeraldEvents
import Testing

@testable import HeraldCore

@Suite("The queue of wanted calls")
struct CallQueueTests {
    private func token(_ number: Int32, _ service: UInt8 = 0) -> CallToken {
        CallToken(slot: SlotID(index: number, generation: 0), service: service)
    }

    @Test("gives classes their turns by weight, each in its order of arrival")
    func weights() {
        var queue = CallQueue(width: 1, weights: [10, 1])
        for number in 0..<30 as Range<Int32> {
            queue.append(token(number), toClass: 0)
            queue.append(token(100 + number), toClass: 1)
        }
        var taken: [Int32] = []
        for _ in 0..<22 { if let next = queue.popFirst(among: .all) { taken.append(next.slot.index) } }
        #expect(taken.filter { $0 < 100 } == Array(0..<20))
        #expect(taken.filter { $0 >= 100 } == [100, 101])
        #expect(queue.count == 38 && queue.count(ofClass: 0) == 10 && queue.count(ofClass: 1) == 28)
    }

    @Test("a class alone gets every turn")
    func alone() {
        var queue = CallQueue(width: 1, weights: [10, 1])
        for number in 0..<5 as Range<Int32> { queue.append(token(number), toClass: 1) }
        var taken: [Int32] = []
        while let next = queue.popFirst(among: .all) { taken.append(next.slot.index) }
        #expect(taken == [0, 1, 2, 3, 4])
        #expect(queue.isEmpty)
    }

    @Test("push services take turns, and one that is on hold delays no other")
    func services() {
        var queue = CallQueue(width: 64, weights: [1])
        for number in 0..<3 as Range<Int32> {
            for service in [0, 5, 63] as [UInt8] { queue.append(token(number, service), toClass: 0) }
        }
        let expected: PushServiceSet = [0, 5, 63]
        #expect(queue.services == expected)
        var taken: [UInt8] = []
        for _ in 0..<4 { if let next = queue.popFirst(among: .all) { taken.append(next.service) } }
        #expect(taken == [0, 5, 63, 0])
        taken = []
        while let next = queue.popFirst(among: [63]) { taken.append(next.service) }
        #expect(taken == [63, 63])
        #expect(queue.count(toService: 5) == 2 && queue.count(toService: 63) == 0)
    }
}
