import Testing

@testable import HeraldWorker

@Suite("Where the duplicate window begins")
struct HistoryTests {
    @Test(
        "at its first record, within its share, never below what is left, never beyond what is committed",
        arguments: [
            // committed, first of the window, first that is left, share; where it begins
            (1_000, 900, 0, 500, 900),
            (1_000, 100, 0, 500, 500),
            (1_000, 2_000, 0, 500, 500),
            (1_000, 2_000, 700, 500, 700),
            (1_000, 2_000, 700, 5_000, 700),
            (1_000, 2_000, 1_000, 500, 1_000),
            // What is committed is gone: the lane finds that out, and says how much is lost.
            (1_000, 2_000, 1_500, 500, 1_000),
        ] as [(Int64, Int64, Int64, Int64, Int64)])
    func start(committed: Int64, first: Int64, firstLeft: Int64, share: Int64, begins: Int64) {
        #expect(History.start(committed: committed, inWindow: first, firstLeft: firstLeft, share: share) == begins)
    }
}
