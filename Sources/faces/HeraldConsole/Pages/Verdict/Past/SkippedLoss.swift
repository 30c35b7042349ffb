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
        var (spans, others) = (told, [Span]())
        // What the console saw last of a loss that is over is a part of it: workers tell of their own partitions.
        for index in spans.indices where spans[index].key == Self.loss.rawValue && !spans[index].isPresent {
            let count = skips.filter { Self.isOf($0, spans[index]) }.reduce(0) { $0 + $1.count }
            if count > 0 {
                spans[index].what = "\(counted(Int64(count), "record", "records")) deleted before they were read"
            }
        }
        for skip in skips {
            let seen = spans.lastIndex { $0.key == Self.loss.rawValue && $0.seen <= skip.at }
            if let seen, Self.isOf(skip, spans[seen]) {
                spans[seen].what += "; \(skip.words)"
            } else {
                others.append(
                    Span(
                        key: Self.loss.rawValue, severity: .warn, title: Self.loss.entry.title, what: skip.words,
                        from: skip.at, seen: skip.at, to: skip.at, isPresent: false))
            }
        }
        return spans + others
    }

    private static func isOf(_ skip: SkippedLoss, _ span: Span) -> Bool {
        span.seen <= skip.at && (span.isPresent || skip.at <= span.to.advanced(by: patience))
    }
}
