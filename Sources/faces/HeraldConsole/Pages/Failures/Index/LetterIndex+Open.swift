internal import HeraldReplay
internal import HeraldTime

/// The open letters: neither replayed nor resolved. A failed replay leaves a new dead letter.
extension LetterIndex {
    /// The number of letters per partition examined for those of the last hour.
    private static let recentLimit = 100_000
    /// Times do not rise strictly: workers' clocks differ.
    static let clockDifference: Milliseconds = .minutes(5)

    /// The traits of the open letters that match.
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

    /// The open letters since then, separated by their causes.
    ///
    /// - Parameter delivered: the deliveries that a cause is compared with.
    func open(
        since moment: WallTime, _ marks: MarkIndex, _ outcomes: ReplayOutcomes, delivered: TraitTally
    ) -> OpenLetters {
        let first = moment.milliseconds - Self.clockDifference.count
        var rows: [LetterRow] = []
        for (partition, members) in partitions {
            var visited = 0
            members.visitNewest { row in
                visited += 1
                if row.moment >= moment.milliseconds, isOpen(row, partition, marks, outcomes) {
                    rows.append(copy row)
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

/// Open dead letters, whole and separated by their causes.
struct OpenLetters: Sendable, Equatable {
    /// The minimum size of a cause; fewer letters belong to another cause's share.
    private static let leastOfCause = 5
    private static let causeLimit = 4

    var whole = TraitTally()
    /// At least one; only the whole where one cause explains all, or no cause is known.
    var causes: [TraitTally] = []

    init() {}

    /// Separates rows by their causes.
    ///
    /// A trait shared by all is one cause. Otherwise the letters with the majority's traits are one, and the rest is
    /// examined alone, so that a new cause does not hide behind an older one.
    init(_ rows: [LetterRow], _ tables: LetterTables, delivered: TraitTally) {
        whole = OpenTally(rows).whole(tables)
        var (rest, tally) = (rows, whole)
        while !rest.isEmpty {
            guard causes.count + 1 < Self.causeLimit, let pattern = FailurePattern(failed: tally, delivered: delivered),
                !pattern.parts.contains(where: { $0.percent == 100 && $0.field != .detail })
            else { break }
            var known: [LetterRow.Cause: Bool] = [:]
            func isMeant(_ row: LetterRow) -> Bool {
                if let known = known[row.cause] { return known }
                let isMeant = pattern.isMeant(row.cause.traits(tables))
                known[row.cause] = isMeant
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

extension LetterRow {
    /// The facts of a row about its cause.
    struct Cause: Hashable, Sendable {
        var traits: UInt32
        var campaign: UInt32
        var detail: UInt32

        /// The traits, without the user.
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

    var cause: Cause { Cause(traits: traits, campaign: campaign, detail: detail) }
}

/// Counts rows by their numbers, so that texts are examined once for all rows that share them.
struct OpenTally {
    private var counts: [LetterRow.Cause: Int] = [:]
    private var users = TraitTally()

    init() {}

    init(_ rows: [LetterRow]) {
        for row in rows { add(row) }
    }

    mutating func add(_ row: borrowing LetterRow) {
        counts[row.cause, default: 0] += 1
        if row.userHash != 0 { users.add(user: UserMark(hash: row.userHash, start: row.userStart)) }
        users.note(WallTime(milliseconds: row.moment))
    }

    func whole(_ tables: LetterTables) -> TraitTally {
        var tally = users
        for (cause, count) in counts {
            if tables.traits[cause.traits]?.mayHaveArrived == true { tally.noteDoubt(times: count) }
            tally.add(cause.traits(tables), times: count)
        }
        return tally
    }
}
