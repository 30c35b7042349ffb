internal import HeraldReplay
internal import HeraldTime

/// Those that are open: neither replayed nor resolved. What a replay did not deliver is a dead letter of its own again.
extension LetterIndex {
    /// So many are looked at, of each partition, for those of the last hour.
    private static let recentLimit = 100_000
    /// Moments do not rise strictly: workers' clocks differ.
    static let clockDifferenceMilliseconds: Int64 = 300_000

    /// The traits of those that match and are open.
    func open(
        _ condition: Condition, _ marks: MarkIndex, _ outcomes: ReplayOutcomes, isOver: () -> Bool
    ) -> IndexAnswer<TraitTally> {
        var tally = OpenTally()
        let isCertain = visit(condition, isOver: isOver) { partition, row in
            if isOpen(row, partition, marks, outcomes) { tally.add(row) }
        }
        let value = tally.whole(tables)
        return IndexAnswer(value: value, matched: value.total, isCertain: isCertain)
    }

    /// The traits of those that came since then and are open.
    func open(since moment: WallTime, _ marks: MarkIndex, _ outcomes: ReplayOutcomes) -> TraitTally {
        let first = moment.milliseconds - Self.clockDifferenceMilliseconds
        var tally = OpenTally()
        for (partition, rows) in partitions {
            var visited = 0
            rows.visitNewest { row in
                visited += 1
                if row.moment >= moment.milliseconds, isOpen(row, partition, marks, outcomes) { tally.add(row) }
                return row.moment >= first && visited < Self.recentLimit
            }
        }
        return tally.whole(tables)
    }

    func isOpen(
        _ row: borrowing LetterRow, _ partition: Int32, _ marks: MarkIndex, _ outcomes: ReplayOutcomes
    ) -> Bool {
        fate(of: row, partition, marks, outcomes)?.isOpen ?? true
    }
}

/// Counts rows by their numbers, so that texts are looked at once for all that have them.
struct OpenTally {
    private struct Key: Hashable {
        var traits: UInt32
        var campaign: UInt32
        var detail: UInt32
    }

    private var counts: [Key: Int] = [:]
    private var users = TraitTally()

    mutating func add(_ row: borrowing LetterRow) {
        counts[Key(traits: row.traits, campaign: row.campaign, detail: row.detail), default: 0] += 1
        if row.userHash != 0 { users.add(user: UserMark(hash: row.userHash, start: row.userStart)) }
        users.note(WallTime(milliseconds: row.moment))
    }

    func whole(_ tables: LetterTables) -> TraitTally {
        var tally = users
        for (key, count) in counts {
            var traits = NotificationTraits()
            if let known = tables.traits[key.traits] {
                traits.services = known.pushServices
                traits.reason = known.reasonText
                traits.status = known.statusNumber
                traits.source = known.source
                if known.mayHaveArrived { tally.noteDoubt(times: count) }
            }
            traits.campaign = tables.campaigns[key.campaign] ?? nil
            traits.detail = tables.details[key.detail] ?? nil
            tally.add(traits, times: count)
        }
        return tally
    }
}
