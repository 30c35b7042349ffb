package import HeraldTime

/// A dead letter's place in the order of lists: the newest first, of the same moment by their places.
package struct LetterOrder: Comparable, Hashable, Sendable {
    package var moment: WallTime
    package var partition: Int32
    package var offset: Int64

    package init(moment: WallTime, partition: Int32, offset: Int64) {
        self.moment = moment
        self.partition = partition
        self.offset = offset
    }

    package static func < (left: Self, right: Self) -> Bool {
        if left.moment != right.moment { return left.moment > right.moment }
        if left.partition != right.partition { return left.partition < right.partition }
        return left.offset > right.offset
    }
}

/// The newest of the dead letters that were looked at, in bounded memory.
package struct NewestLetters<Letter> {
    private let limit: Int
    private let start: LetterOrder?
    private var kept: [(order: LetterOrder, letter: Letter)] = []
    /// What comes behind it is not kept.
    private var threshold: LetterOrder?

    /// - Parameter start: only what comes behind it counts.
    package init(limit: Int, behind start: LetterOrder? = nil) {
        self.limit = limit
        self.start = start
    }

    /// Takes a dead letter of this place in the order.
    package mutating func add(_ order: LetterOrder, _ letter: () -> Letter) {
        if let threshold, order > threshold { return }
        if let start, order <= start { return }
        kept.append((order, letter()))
        guard kept.count >= 2 * limit else { return }
        kept = letters
        threshold = kept.last?.order
    }

    /// In their order.
    package var letters: [(order: LetterOrder, letter: Letter)] {
        Array(kept.sorted { $0.order < $1.order }.prefix(limit))
    }
}
