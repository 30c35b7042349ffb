internal import HeraldEvents
internal import HeraldKafka
import HeraldTime

/// Watches a dead-letter topic of others for what a replay has published and they could not process again.
///
/// Others report no outcome. But they keep headers, so what comes back says that it was replayed. One thread.
final class ReturnWatch {
    private static let lettersPerTurn = 10_000

    private let reader: DeadLetterReader

    /// Watches from the present ends on; make it before anything is published.
    init(_ context: ReplayContext, _ layout: ReplayContext.Layout) throws {
        reader = try context.deadLetters()
        try reader.follow(layout.deadLetters)
    }

    /// How many have come back since it was asked last.
    func poll() throws -> Int {
        var count = 0
        for _ in 0..<Self.lettersPerTurn {
            guard case .entry = try reader.next(wait: .zero) else { break }
            if reader.entry.replays > 0 { count += 1 }
        }
        return count
    }

    func close() { reader.close() }
}
