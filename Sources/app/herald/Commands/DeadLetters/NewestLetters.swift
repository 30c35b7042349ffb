import HeraldReplay
import HeraldTime

/// The newest of the dead letters that were looked at, in bounded memory.
struct NewestLetters {
    private let limit: Int
    private var kept: [DeadLetterView] = []
    /// When the oldest came that is surely kept; older ones need not be looked at.
    private var threshold: WallTime?

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a dead letter that came at this moment.
    mutating func add(_ moment: WallTime, _ view: () -> DeadLetterView) {
        if let threshold, moment < threshold { return }
        kept.append(view())
        guard kept.count >= 2 * limit else { return }
        kept = letters
        threshold = kept.last?.deadLetteredAt
    }

    /// The newest first; of the same moment by their places.
    var letters: [DeadLetterView] {
        Array(
            kept.sorted { left, right in
                if left.deadLetteredAt != right.deadLetteredAt { return left.deadLetteredAt > right.deadLetteredAt }
                return (left.partition, -left.offset) < (right.partition, -right.offset)
            }.prefix(limit))
    }
}
