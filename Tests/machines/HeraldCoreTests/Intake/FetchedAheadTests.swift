import Testing

@testable import HeraldCore

@Suite("Bytes fetched ahead")
struct FetchedAheadTests {
    private let beside = FetchedAhead.recordOverhead

    @Test("an answer counts until its last record is taken")
    func wholeSpans() {
        var ahead = FetchedAhead(sources: 1)
        ahead.look(counts: [10], fetched: 10_000)
        #expect(ahead.total == 10_000 + 10 * beside)
        for _ in 0..<9 { ahead.consumed(from: 0, bytes: 1_000) }
        ahead.look(counts: [1], fetched: 10_000)
        #expect(ahead.total == 10_000 + 10 * beside, "one of them keeps the whole answer")
        ahead.consumed(from: 0, bytes: 1_000)
        ahead.look(counts: [0], fetched: 10_000)
        #expect(ahead.total == 0)
    }

    @Test("a waiting source holds the bytes fetched together with its records, a consumed source does not")
    func pinned() {
        var ahead = FetchedAhead(sources: 2)
        for turn in 1...5 {
            // A small record of the second source and a large one of the first, which is taken at once.
            ahead.consumed(from: 0, bytes: 900_000)
            ahead.look(counts: [0, turn], fetched: turn * 900_100)
        }
        #expect(ahead.held(by: 0) == 0)
        #expect(ahead.held(by: 1) == 5 * (900_100 + 2 * beside))
        ahead.empty(source: 1)
        #expect(ahead.total == 0)
    }

    @Test("decompressed records count by the sizes of earlier ones")
    func compressed() {
        var ahead = FetchedAhead(sources: 1)
        for _ in 0..<FetchedAhead.fewestSizes { ahead.consumed(from: 0, bytes: 500_000) }
        ahead.look(counts: [0], fetched: 1_000)
        ahead.look(counts: [4], fetched: 2_000)
        #expect(ahead.total == 4 * (500_000 + beside))
    }

    @Test("a single large record among small ones does not count for all")
    func rare() {
        var ahead = FetchedAhead(sources: 1)
        for _ in 0..<1_000 { ahead.consumed(from: 0, bytes: 200) }
        ahead.consumed(from: 0, bytes: 900_000)
        ahead.look(counts: [0], fetched: 1_000_000)
        ahead.look(counts: [1_000], fetched: 1_200_000)
        #expect(ahead.total < 1_000 * (1_200 + beside))
    }

    @Test("answers without records count for nothing, however many there are")
    func empty() {
        var ahead = FetchedAhead(sources: 1)
        for turn in 1...1_000 { ahead.look(counts: [0], fetched: turn / 2 * 10_000) }
        ahead.look(counts: [1], fetched: 5_000_100)
        #expect(ahead.total <= 10_100 + beside)
    }

    @Test("an answer that is counted before its records arrive counts with them")
    func early() {
        var ahead = FetchedAhead(sources: 1)
        ahead.look(counts: [0], fetched: 900_000)
        ahead.look(counts: [1], fetched: 900_100)
        #expect(ahead.total == 900_100 + beside)
    }

    @Test("old answers are remembered ever more coarsely, and never as less than they are")
    func merged() {
        var ahead = FetchedAhead(sources: 2)
        let looks = 10 * FetchedAhead.spanLimit
        for turn in 1...looks { ahead.look(counts: [turn, turn], fetched: turn * 1_000) }
        let all = looks * (1_000 + 2 * beside)
        #expect(ahead.total == all)
        for _ in 0..<looks / 2 { ahead.consumed(from: 0, bytes: 500) }
        for _ in 0..<looks / 2 { ahead.consumed(from: 1, bytes: 500) }
        ahead.look(counts: [looks / 2, looks / 2], fetched: looks * 1_000)
        #expect(ahead.total >= all / 2 && ahead.total < all)
    }
}
