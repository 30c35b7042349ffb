internal import HeraldBytes
internal import HeraldReplay

/// The index's facts for conditions, about one dead letter or all that share traits and campaign.
struct RowFacts: ConditionFacts {
    /// `nil` when they are not kept.
    let traits: LetterTraits?
    /// `nil` when it is not kept.
    let campaign: String??
    let partition: Int32
    /// `nil` when it stands for all with these traits and this campaign.
    var row: LetterRow?

    func holds(_ test: Condition.TextTest, for field: WhereField) -> Bool? {
        switch field {
        case .user: row.flatMap { Self.holds(test, $0.userHash) }
        case .id: row.flatMap { Self.holds(test, $0.idHash) }
        case .reason: traits.map { Self.holds(test, $0.reasonText) }
        case .campaign: campaign.map { Self.holds(test, $0) }
        case .source: traits.map { Self.holds(test, $0.source) }
        case .topic: traits.map { Self.holds(test, $0.topic) }
        default: nil
        }
    }

    func holdsForService(_ test: Condition.TextTest) -> Bool? {
        traits.map { traits in
            traits.pushServicesText.map { test.holdsForOne(of: $0.utf8.span.bytes) } ?? (test == .absent)
        }
    }

    func holds(_ test: Condition.NumberTest, for source: Condition.NumberSource) -> Bool? {
        switch source {
        case .field(.status): return traits.map { test.holds($0.statusNumber) }
        case .field(.replays): return traits.map { test.holds(Int64($0.replays)) }
        case .field(.partition): return test.holds(Int64(partition))
        case .field(.offset): return row.map { test.holds($0.offset) }
        case .field(.deadLetteredAt): return row.map { test.holds($0.moment) }
        case .hourOfDay, .hourSinceEpoch: return row.map { test.holds(source.hour(of: $0.moment)) }
        case .field(.attempts):
            guard let row, row.attempts != LetterRow.otherNumber else { return nil }
            return test.holds(row.attempts == LetterRow.noNumber ? nil : Int64(row.attempts))
        case .field: return nil
        }
    }

    private static func holds(_ test: Condition.TextTest, _ hash: UInt64) -> Bool? {
        switch test {
        case .absent: hash == 0
        case .oneOf(let set): set.hashes.contains(hash)
        case .glob: nil
        }
    }

    private static func holds(_ test: Condition.TextTest, _ text: String?) -> Bool {
        guard let text else { return test == .absent }
        return test.holds(text.utf8.span.bytes)
    }
}
