internal import HeraldEvents
internal import HeraldReplay
internal import HeraldTime

/// The dead-letter topic in memory: pure, fed with dead letters in the order of their partitions.
///
/// It remembers the newest ``limit`` letters, each in 72 bytes (``LetterRow``), and counts those it has dropped.
struct LetterIndex: Sendable {
    let limit: Int
    private(set) var tables = LetterTables()
    private(set) var partitions: [Int32: LetterRows] = [:]
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    /// The first offsets of the topic's partitions, as far as known.
    private var starts: [Int32: Int64] = [:]
    /// The partitions of which older dead letters were dropped or never read.
    private var shortened: Set<Int32> = []
    /// Rises with each change.
    private(set) var version = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ entry: inout DeadLetterEntry) {
        let row = LetterRow(&entry, &tables)
        guard partitions[entry.partition, default: LetterRows()].append(row) else { return }
        count += 1
        version += 1
        if count > limit { makeRoom() }
    }

    /// Drops the oldest eighth of each partition.
    private mutating func makeRoom() {
        for (partition, rows) in partitions {
            guard let offset = rows.offset(leaving: rows.count - rows.count / 8 - 1) else { continue }
            count -= partitions[partition]?.drop(before: offset) ?? 0
            shortened.insert(partition)
        }
    }

    /// Notes that a partition is not read from its beginning, for lack of room.
    mutating func noteShortened(_ partition: Int32) { shortened.insert(partition) }

    /// Notes a partition's first offset, and drops the letters before it.
    mutating func noteStart(_ offset: Int64, of partition: Int32) {
        starts[partition] = offset
        let dropped = partitions[partition]?.drop(before: offset) ?? 0
        count -= dropped
        if dropped > 0 {
            version += 1
            shortened.remove(partition)
        }
    }

    /// Notes a change in other data that answers depend on.
    mutating func noteChange() { version += 1 }

    /// The approximate number of letters in the topic that are not remembered.
    var forgotten: Int64 {
        shortened.reduce(0) { sum, partition in
            guard let start = starts[partition], let first = partitions[partition]?.firstOffset else { return sum }
            return sum + max(0, first - start)
        }
    }

    /// Visits the rows that satisfy a condition.
    ///
    /// - Parameter isOver: whether it takes too long; called from time to time.
    /// - Returns: `false` when it skipped rows because the index knows too little about them, or time ran out.
    func visit(
        _ condition: Condition, isOver: () -> Bool, _ body: (Int32, borrowing LetterRow) -> Void
    ) -> Bool {
        var (visited, isEnded) = (0, false)
        // The part that depends on traits and campaign is decided once for all rows that share them.
        var decided: [UInt64: (facts: RowFacts, holds: Bool?)] = [:]
        var lastKey: UInt64?
        var last = (facts: RowFacts(traits: nil, campaign: nil, partition: 0), holds: Bool?.none)
        var isCertain = true
        for (partition, rows) in partitions {
            (decided, lastKey) = ([:], nil)
            rows.visit { row in
                if visited % Self.rowsPerLook == 0 { isEnded = isEnded || isOver() }
                visited += 1
                guard !isEnded else { return }
                let key = UInt64(row.traits) << 32 | UInt64(row.campaign)
                if key != lastKey {
                    last = decided[key] ?? decision(condition, row, partition)
                    decided[key] = last
                    lastKey = key
                }
                var holds = last.holds
                if holds == nil {
                    last.facts.row = copy row
                    holds = condition.evaluate(&last.facts)
                }
                switch holds {
                case true: body(partition, row)
                case false: break
                case nil: isCertain = false
                }
            }
        }
        return isCertain && !isEnded
    }

    private static let rowsPerLook = 4_096

    private func decision(
        _ condition: Condition, _ row: borrowing LetterRow, _ partition: Int32
    ) -> (facts: RowFacts, holds: Bool?) {
        var facts = RowFacts(
            traits: tables.traits[row.traits], campaign: tables.campaigns[row.campaign], partition: partition)
        return (facts, condition.evaluate(&facts))
    }
}

extension LetterIndex {
    /// The newest matching letters after a position in that order.
    func newest(
        _ condition: Condition, atMost limit: Int, behind cursor: LetterOrder?, isOver: () -> Bool
    ) -> IndexAnswer<[LetterOrder]> {
        var newest = NewestLetters<Void>(limit: limit, behind: cursor)
        var matched = 0
        let isCertain = visit(condition, isOver: isOver) { partition, row in
            matched += 1
            newest.add(
                LetterOrder(moment: WallTime(milliseconds: row.moment), partition: partition, offset: row.offset)
            ) {}
        }
        return IndexAnswer(value: newest.letters.map(\.order), matched: matched, isCertain: isCertain)
    }
}
