internal import HeraldReplay
internal import HeraldTime

/// Dead letters that followed one another closely.
struct LetterRun: Sendable, Equatable {
    var from: WallTime
    var to: WallTime
    var tally: TraitTally
    var open: Int
}

extension LetterIndex {
    /// The gap that starts a new run.
    private static let gapMinutes: Int64 = 10
    /// The number of letters examined per partition, the newest.
    private static let lookedAtLimit = 500_000

    /// The runs since a given time, oldest first, whether handled or not.
    func runs(since moment: WallTime, _ marks: MarkIndex, _ outcomes: ReplayOutcomes) -> [LetterRun] {
        var minutes: Set<Int64> = []
        visitNewest(since: moment) { _, row in minutes.insert(row.moment / Milliseconds.minutes(1).count) }
        var starts: [Int64] = []
        var last: Int64?
        for minute in minutes.sorted() {
            if last.map({ minute - $0 > Self.gapMinutes }) ?? true { starts.append(minute) }
            last = minute
        }
        var tallies = [(rows: OpenTally, open: Int)](repeating: (OpenTally(), 0), count: starts.count)
        visitNewest(since: moment) { partition, row in
            let minute = row.moment / Milliseconds.minutes(1).count
            guard let run = starts.lastIndex(where: { $0 <= minute }) else { return }
            tallies[run].rows.add(row)
            if isOpen(row, partition, marks, outcomes) { tallies[run].open += 1 }
        }
        return tallies.compactMap { rows, open in
            let tally = rows.whole(tables)
            guard let first = tally.first, let last = tally.last else { return nil }
            return LetterRun(from: first, to: last, tally: tally, open: open)
        }
    }

    private func visitNewest(since moment: WallTime, _ body: (Int32, borrowing LetterRow) -> Void) {
        for (partition, rows) in partitions {
            var visited = 0
            rows.visitNewest { row in
                visited += 1
                if row.moment >= moment.milliseconds { body(partition, row) }
                return row.moment >= moment.milliseconds - Self.clockDifference.count
                    && visited < Self.lookedAtLimit
            }
        }
    }
}
