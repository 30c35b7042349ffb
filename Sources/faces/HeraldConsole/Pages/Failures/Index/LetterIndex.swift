internal import HeraldEvents
internal import HeraldReplay
internal import HeraldTime

/// What is in the dead-letter topic, in memory: pure, fed with dead letters in the order of their partitions.
///
/// It remembers the newest ``limit`` of them, each in 72 bytes (``LetterRow``), and knows how many it has dropped.
struct LetterIndex: Sendable {
    let limit: Int
    private(set) var tables = LetterTables()
    private(set) var partitions: [Int32: LetterRows] = [:]
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    /// Where the topic's partitions begin, as far as that is known.
    private var starts: [Int32: Int64] = [:]
    /// The partitions of which older dead letters were dropped, or never read.
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

    /// Lets go of an eighth of each partition, the oldest ones.
    private mutating func makeRoom() {
        for (partition, rows) in partitions {
            guard let offset = rows.offset(leaving: rows.count - rows.count / 8 - 1) else { continue }
            count -= partitions[partition]?.drop(before: offset) ?? 0
            shortened.insert(partition)
        }
    }

    /// Notes that a partition is not read from its beginning, because there is no room for all of it.
    mutating func noteShortened(_ partition: Int32) { shortened.insert(partition) }

    /// Notes where a partition begins now, and drops what lay before it.
    mutating func noteStart(_ offset: Int64, of partition: Int32) {
        starts[partition] = offset
        let dropped = partitions[partition]?.drop(before: offset) ?? 0
        count -= dropped
        if dropped > 0 {
            version += 1
            shortened.remove(partition)
        }
    }

    /// Notes that something else has changed that answers are made of.
    mutating func noteChange() { version += 1 }

    /// About how many the topic has that are not remembered.
    var forgotten: Int64 {
        shortened.reduce(0) { sum, partition in
            guard let start = starts[partition], let first = partitions[partition]?.firstOffset else { return sum }
            return sum + max(0, first - start)
        }
    }

    subscript(partition: Int32, offset: Int64) -> LetterRow? { partitions[partition]?[offset: offset] }

    /// Visits the rows for which a condition holds.
    ///
    /// - Parameter isOver: whether it takes too long; asked now and then.
    /// - Returns: `false` when the index cannot tell of some, or has not asked about all: these are not visited.
    func visit(
        _ condition: Condition, isOver: () -> Bool, _ body: (Int32, borrowing LetterRow) -> Void
    ) -> Bool {
        var (visited, isEnded) = (0, false)
        // What follows from traits and campaign is decided once for all that have them.
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
