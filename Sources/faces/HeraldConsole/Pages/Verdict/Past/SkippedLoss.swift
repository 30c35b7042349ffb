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
        for skip in skips {
            let seen = spans.lastIndex { $0.key == Self.loss.rawValue && $0.seen <= skip.at }
            if let seen, spans[seen].isPresent || skip.at <= spans[seen].to.advanced(by: Self.patience) {
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
}
