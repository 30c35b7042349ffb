internal import HeraldReplay
internal import HeraldTime

/// Those that are open: neither replayed nor resolved. What a replay did not deliver is a dead letter of its own again.
extension LetterIndex {
    /// So many are looked at, of each partition, for those of the last hour.
    private static let recentLimit = 100_000
    /// Moments do not rise strictly: workers' clocks differ.
    static let clockDifference: Milliseconds = .minutes(5)

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

    /// Those that came since then and are open, told apart by their causes.
    ///
    /// - Parameter delivered: what a cause is told apart from.
    func open(
        since moment: WallTime, _ marks: MarkIndex, _ outcomes: ReplayOutcomes, delivered: TraitTally
    ) -> OpenLetters {
        let first = moment.milliseconds - Self.clockDifference.count
        var rows: [OpenRow] = []
        for (partition, members) in partitions {
            var visited = 0
            members.visitNewest { row in
                visited += 1
                if row.moment >= moment.milliseconds, isOpen(row, partition, marks, outcomes) {
                    rows.append(OpenRow(row))
                }
                return row.moment >= first && visited < Self.recentLimit
            }
        }
        return OpenLetters(rows, tables, delivered: delivered)
    }

    func isOpen(
        _ row: borrowing LetterRow, _ partition: Int32, _ marks: MarkIndex, _ outcomes: ReplayOutcomes
    ) -> Bool {
        fate(of: row, partition, marks, outcomes)?.isOpen ?? true
    }
}

/// Dead letters that are open, and the same told apart by their causes.
struct OpenLetters: Sendable, Equatable {
    /// Fewer are no cause of their own: they stand in the share of another.
    private static let leastOfCause = 5
    private static let causeLimit = 4

    var whole = TraitTally()
    /// Each at least one; the whole alone where one cause explains all, or nothing is known of causes.
    var causes: [TraitTally] = []

    init() {}

    /// Tells rows apart by their causes.
    ///
    /// What all have in common is one cause. Else those that have what most have are one, and the rest is looked at alone: a
    /// cause that has just begun does not hide behind an older one.
    init(_ rows: [OpenRow], _ tables: LetterTables, delivered: TraitTally) {
        whole = OpenTally(rows).whole(tables)
        var (rest, tally) = (rows, whole)
        while !rest.isEmpty {
            guard causes.count + 1 < Self.causeLimit, let pattern = FailurePattern(failed: tally, delivered: delivered),
                !pattern.parts.contains(where: { $0.percent == 100 && $0.field != .detail })
            else { break }
            var known: [OpenRow.Key: Bool] = [:]
            func isMeant(_ row: OpenRow) -> Bool {
                if let known = known[row.key] { return known }
                let isMeant = pattern.isMeant(row.key.traits(tables))
                known[row.key] = isMeant
                return isMeant
            }
            let own = rest.filter(isMeant)
            guard own.count >= Self.leastOfCause, rest.count - own.count >= Self.leastOfCause else { break }
            causes.append(OpenTally(own).whole(tables))
            rest = rest.filter { !isMeant($0) }
            tally = OpenTally(rest).whole(tables)
        }
        if !rest.isEmpty { causes.append(tally) }
    }
}

/// What of a row tells its cause, its user and its moment.
struct OpenRow: Sendable {
    struct Key: Hashable, Sendable {
        var traits: UInt32
        var campaign: UInt32
        var detail: UInt32

        /// Without a user.
        func traits(_ tables: LetterTables) -> NotificationTraits {
            var traits = NotificationTraits()
            if let known = tables.traits[self.traits] {
                traits.services = known.pushServices
                traits.reason = known.reasonText
                traits.status = known.statusNumber
                traits.source = known.source
            }
            traits.campaign = tables.campaigns[campaign] ?? nil
            traits.detail = tables.details[detail] ?? nil
            return traits
        }
    }

    var key: Key
    var userHash: UInt64
    var userStart: UInt64
    var moment: Int64

    init(_ row: borrowing LetterRow) {
        key = Key(traits: row.traits, campaign: row.campaign, detail: row.detail)
        (userHash, userStart, moment) = (row.userHash, row.userStart, row.moment)
    }
}

/// Counts rows by their numbers, so that texts are looked at once for all that have them.
struct OpenTally {
    private var counts: [OpenRow.Key: Int] = [:]
    private var users = TraitTally()

    init() {}

    init(_ rows: [OpenRow]) {
        for row in rows { add(row) }
    }

    mutating func add(_ row: borrowing LetterRow) { add(OpenRow(row)) }

    mutating func add(_ row: OpenRow) {
        counts[row.key, default: 0] += 1
        if row.userHash != 0 { users.add(user: UserMark(hash: row.userHash, start: row.userStart)) }
        users.note(WallTime(milliseconds: row.moment))
    }

    func whole(_ tables: LetterTables) -> TraitTally {
        var tally = users
        for (key, count) in counts {
            if tables.traits[key.traits]?.mayHaveArrived == true { tally.noteDoubt(times: count) }
            tally.add(key.traits(tables), times: count)
        }
        return tally
    }
}
