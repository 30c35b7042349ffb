import Testing

@testable import HeraldWorker

@Suite("The beginning of the duplicate window")
struct HistoryTests {
    @Test(
        "at its first record, within its share, never below the retained records or beyond the committed ones",
        arguments: [
            // committed, first of the window, first retained, share; where it begins
            (1_000, 900, 0, 500, 900),
            (1_000, 100, 0, 500, 500),
            (1_000, 2_000, 0, 500, 500),
            (1_000, 2_000, 700, 500, 700),
            (1_000, 2_000, 700, 5_000, 700),
            (1_000, 2_000, 1_000, 500, 1_000),
            // The committed offset is gone: the lane finds that out, and reports the loss.
            (1_000, 2_000, 1_500, 500, 1_000),
        ] as [(Int64, Int64, Int64, Int64, Int64)])
    func start(committed: Int64, first: Int64, firstLeft: Int64, share: Int64, begins: Int64) {
        #expect(History.start(committed: committed, inWindow: first, firstLeft: firstLeft, share: share) == begins)
    }
}
