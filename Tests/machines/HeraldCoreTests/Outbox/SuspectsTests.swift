import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Events that were refused together")
struct SuspectsTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func id(_ number: Int) -> SlotID { SlotID(index: Int32(number), generation: 0) }

    /// Refuses each try with one of `culprits`; returns the number of transactions until all others are durable and
    /// each culprit was refused alone.
    private func transactions(among count: Int, culprits: Set<Int>) -> Int {
        var suspects = Suspects()
        for number in 0..<count { suspects.refuse(id(number)) }
        suspects.failed(tried: nil)
        var (durable, alone, transactions) = (Set<SlotID>(), Set<SlotID>(), 0)
        while suspects.due != nil, transactions < 10 * count {
            let tried = suspects.take(atMost: .max, now: Self.now)
            transactions += 1
            if tried.contains(where: { culprits.contains(Int($0.index)) }) {
                if tried.count == 1 {
                    alone.insert(tried[0])
                } else {
                    for id in tried { suspects.refuse(id) }
                }
                suspects.failed(tried: [])
            } else {
                durable.formUnion(tried)
                suspects.passed(tried.count)
            }
        }
        #expect(alone == Set(culprits.map(id)))
        #expect(durable.count == count - culprits.count)
        return transactions
    }

    @Test("one among many is found in about log n transactions, wherever it is, with the others durable")
    func one() {
        for culprit in [0, 1, 63, 64, 500, 511, 998, 999] {
            #expect(transactions(among: 1_000, culprits: [culprit]) <= 3 * 10)
        }
    }

    @Test("each further one costs about log n more")
    func several() {
        #expect(transactions(among: 1_000, culprits: [3, 400, 401, 999]) <= 4 * 3 * 10)
        #expect(transactions(among: 40, culprits: [7, 29]) <= 2 * 3 * 6)
    }

    @Test("events that fail for another reason are tried again")
    func otherReason() {
        var suspects = Suspects()
        for number in 0..<8 { suspects.refuse(id(number)) }
        suspects.failed(tried: nil)
        let tried = suspects.take(atMost: .max, now: Self.now)
        #expect(tried == (0..<4).map(id))
        suspects.failed(tried: tried)
        #expect(suspects.take(atMost: .max, now: Self.now) == tried)
    }

    @Test("events that wait for their topic are tried one at a time, the oldest and the newest alternately")
    func held() {
        var suspects = Suspects()
        let next = Self.now.advanced(by: .seconds(2))
        for number in 0..<3 { suspects.hold(id(number), until: next) }
        #expect(!suspects.isWaiting)
        #expect(suspects.due == next)
        #expect(suspects.take(atMost: .max, now: next) == [id(2)])
        #expect(suspects.take(atMost: .max, now: next) == [id(0)])
        suspects.release { _ in true }
        #expect(suspects.due == .distantPast)
        #expect(suspects.take(atMost: .max, now: Self.now) == [id(1)])
    }

    @Test("when a topic takes records again, the number of tries doubles")
    func grows() {
        var suspects = Suspects()
        for number in 0..<15 { suspects.hold(id(number), until: Self.now) }
        suspects.release { _ in true }
        var sizes: [Int] = []
        while suspects.due != nil {
            let tried = suspects.take(atMost: .max, now: Self.now)
            sizes.append(tried.count)
            suspects.passed(tried.count)
        }
        #expect(sizes == [1, 2, 4, 8])
    }
}
