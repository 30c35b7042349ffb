internal import HeraldEvents
internal import HeraldKafka

/// Watches a dead-letter topic of others for what a replay has published and they could not process again.
///
/// Others report no outcome. But they keep headers, so what comes back says that it was replayed. One thread.
final class ReturnWatch {
    private let reader: DeadLetterReader
    /// How many have come back, in all and since ``beginBatch()``.
    private(set) var count = 0
    private(set) var batchCount = 0

    /// Watches from the present ends on; make it before anything is published.
    init(_ context: ReplayContext, _ layout: ReplayContext.Layout) throws {
        reader = try context.deadLetters()
        try reader.follow(layout.deadLetters)
    }

    func beginBatch() { batchCount = 0 }

    /// Takes what has come, waiting up to this long for the first.
    func poll(waitMilliseconds: Int32) throws {
        var wait = waitMilliseconds
        while case .entry = try reader.next(waitMilliseconds: wait) {
            wait = 0
            guard reader.entry.replays > 0 else { continue }
            count += 1
            batchCount += 1
        }
    }

    func close() { reader.close() }
}
