import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// Lost records that an operator has skipped, as the audit topic tells it: the loss is acknowledged.
struct SkippedLoss: Sendable, Equatable {
    var at: WallTime
    var by: String
    var count: Int

    init(at: WallTime, by: String, count: Int) {
        (self.at, self.by, self.count) = (at, by, count)
    }

    /// `nil` for every other entry.
    init?(_ record: AuditRecord) {
        guard let entry = record.entry, let count = entry.skippedCount else { return nil }
        self.init(at: record.at, by: entry.by, count: count)
    }

    var words: String {
        "\(counted(Int64(count), "record", "records")) skipped by \(SafeText.escaped(by)) at \(at.clock(now: at))"
    }
}

extension VerdictLog {
    /// The entries of the day with what became of lost records; those that this console did not see are told by the audit
    /// topic alone.
    func told(besides skips: [SkippedLoss]) -> [Span] {
        var (spans, left) = (told, skips)
        for index in spans.indices.reversed() where spans[index].key == Self.loss.rawValue {
            let own = left.filter { Self.isOf($0, spans[index]) }
            left.removeAll(where: own.contains)
            let count = own.reduce(0) { $0 + $1.count }
            // What was seen last of a loss that is over is a part of it: workers tell of their own partitions.
            if count > 0, !spans[index].isPresent {
                spans[index].what = "\(counted(Int64(count), "record", "records")) deleted before they were read"
            }
            spans[index].what = ([spans[index].what] + own.map(\.words)).joined(separator: "; ")
        }
        return spans
            + left.map { skip in
                Span(
                    key: Self.loss.rawValue, severity: .warn, title: Self.loss.entry.title, what: skip.words,
                    from: skip.at, seen: skip.at, to: skip.at, isPresent: false)
            }
    }

    private static func isOf(_ skip: SkippedLoss, _ span: Span) -> Bool {
        span.seen <= skip.at && (span.isPresent || skip.at <= span.to.advanced(by: patience))
    }
}
