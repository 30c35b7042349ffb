internal import HeraldEvents
internal import HeraldReplay
internal import HeraldTime

struct IndexAnswer<Value> {
    var value: Value
    var matched: Int
    /// Whether it knew enough about all of them.
    var isCertain: Bool
}

extension IndexAnswer: Sendable where Value: Sendable {}

extension LetterIndex {
    /// The groups of the matching letters, largest first; empty for details, which it does not remember.
    func groups(
        by field: GroupField, _ condition: Condition, _ marks: MarkIndex, _ outcomes: ReplayOutcomes,
        isOver: () -> Bool
    ) -> IndexAnswer<[GroupTable.Group]> {
        guard field != .detail else { return IndexAnswer(value: [], matched: 0, isCertain: false) }
        var likes: [LikeLetters.Key: LikeLetters] = [:]
        var matched = 0
        let isCertain = visit(condition, isOver: isOver) { partition, row in
            matched += 1
            let key = LikeLetters.Key(
                traits: row.traits, campaign: row.campaign,
                hour: field == .hour ? row.moment / Milliseconds.hours(1).count : 0,
                fate: fate(of: row, partition, marks, outcomes))
            likes[key, default: LikeLetters(row, partition)].add(row.moment)
        }
        var groups = GroupTable(field)
        for (key, like) in likes {
            let letter = like.letter(tables)
            let fate = key.fate ?? .open
            let slots = letter.isKnown(for: field) ? groups.slots(of: letter) : [groups.slotOfOthers(letter)]
            for slot in slots {
                groups.count(letter, fate, in: slot, times: like.count, last: WallTime(milliseconds: like.last))
            }
        }
        return IndexAnswer(value: groups.sorted, matched: matched, isCertain: isCertain)
    }

    /// The fate of a row; `nil` when it is open.
    func fate(
        of row: borrowing LetterRow, _ partition: Int32, _ marks: MarkIndex, _ outcomes: ReplayOutcomes
    ) -> LetterFate? {
        guard let highest = marks.highest[partition], row.offset <= highest else { return nil }
        let traits = tables.traits[row.traits]
        var origin: Origin?
        if row.originPartition >= 0, let topic = traits?.topic {
            origin = Origin(topic: topic, partition: row.originPartition, offset: row.originOffset)
        }
        return LetterFate(
            of: LetterFacts(
                partition: partition, offset: row.offset, origin: origin, pushServices: traits?.pushServices ?? [],
                replays: traits?.replays ?? 0),
            marks, outcomes)
    }
}

/// Dead letters that are equal in everything a group needs: counted together, and added to the groups once.
private struct LikeLetters {
    struct Key: Hashable {
        var traits: UInt32
        var campaign: UInt32
        /// Where they are grouped by it.
        var hour: Int64
        var fate: LetterFate?
    }

    let partition: Int32
    /// One of them.
    let row: LetterRow
    private(set) var count = 0
    private(set) var first: Int64
    private(set) var last: Int64

    init(_ row: borrowing LetterRow, _ partition: Int32) {
        self.partition = partition
        self.row = copy row
        (first, last) = (row.moment, row.moment)
    }

    mutating func add(_ moment: Int64) {
        count += 1
        first = min(first, moment)
        last = max(last, moment)
    }

    func letter(_ tables: LetterTables) -> IndexedLetter {
        IndexedLetter(
            partition: partition, offset: row.offset, moment: first, traits: tables.traits[row.traits],
            knownCampaign: tables.campaigns[row.campaign])
    }
}

/// A row with all facts that a group needs.
struct IndexedLetter: GroupedLetter {
    let partition: Int32
    let offset: Int64
    let moment: Int64
    /// `nil` when they are not kept.
    let traits: LetterTraits?
    /// `nil` when it is not kept.
    let knownCampaign: String??

    /// Whether the grouping field's value is known.
    func isKnown(for field: GroupField) -> Bool {
        switch field {
        case .hour: true
        case .campaign: knownCampaign != nil
        case .detail: false
        case .reason, .topic, .status, .pns, .source: traits != nil
        }
    }

    var deadLetteredAt: WallTime { WallTime(milliseconds: moment) }
    var reasonText: String? { traits?.reasonText }
    var reason: DeadLetterReason? { traits?.reason }
    var statusNumber: Int64? { traits?.statusNumber }
    var pushServices: [String] { traits?.pushServices ?? [] }
    var detail: String? { nil }
    var topic: String? { traits?.topic }
    var campaign: String? { knownCampaign ?? nil }
    var source: String? { traits?.source }
    var place: String { "\(partition):\(offset)" }
    var longField: String? { traits?.longField }
    var narrowTopics: String? { traits?.narrowTopics }
    var mayHaveArrived: Bool { traits?.mayHaveArrived ?? false }
}
