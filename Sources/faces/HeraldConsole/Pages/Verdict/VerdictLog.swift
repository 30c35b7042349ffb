import HeraldEvents
import HeraldTime

/// What was wrong from when to when, of the last day: pure, fed with each verdict.
struct VerdictLog: Sendable {
    struct Span: Sendable, Equatable {
        var key: String
        var severity: Finding.Severity
        var title: String
        /// As it was told last.
        var what: String
        var from: WallTime
        /// When it was seen for the first time: what began it may be older.
        var seen: WallTime
        /// When it was seen last, or its end.
        var to: WallTime
        var isPresent = true
        /// Whether what comes now under its name is another one.
        var isOver = false
        /// How many events waited at most; `nil` when that was never known.
        var mostWaiting: Int64?
        /// What it is about.
        var place: [String] = []
    }

    /// What comes back sooner has not ended: it is one episode, with one beginning.
    static let gap: Milliseconds = .seconds(30)
    /// What begins or is done so long beside it, such as many that came late, belongs to it.
    static let patience: Milliseconds = .minutes(1)
    static let loss = FindingKey.recordsLost
    /// What is seen for less time is no entry: it is how one state turns into the next.
    private static let least: Milliseconds = .seconds(5)
    /// Two that began within so long have one beginning.
    private static let sameTime: Milliseconds = .seconds(10)
    private static let limit = 500
    /// Dead letters tell their own history, also of the time before the console began.
    private static let others = "dead-letters"

    /// In the order in which they began to be seen.
    private var spans: [Span] = []

    /// Those that lasted, in the order in which they began to be seen.
    var told: [Span] { spans.filter { $0.to.time(since: $0.seen) >= Self.least } }

    mutating func note(_ verdict: Verdict, now: WallTime) {
        let findings = ([verdict.first] + verdict.others).filter {
            ($0.finding.severity == .bad || $0.finding.severity == .warn) && !$0.key.hasPrefix(Self.others)
        }
        for index in spans.indices where !spans[index].isOver {
            spans[index].isOver = now.time(since: spans[index].to) >= Self.gap
        }
        for index in spans.indices { spans[index].isPresent = false }
        let keys = Set(findings.map(\.key))
        for finding in findings { note(finding, besides: keys, now) }
        spans.removeAll { now.time(since: $0.to) > .days(1) }
        if spans.count > Self.limit { spans.removeFirst(spans.count - Self.limit) }
    }

    /// Which of those that are told tells of a time in which many came late; `nil` when none saw it from its beginning.
    ///
    /// Exactly one: a number stands for one time. What is bad goes before what is not, and then what began nearest to it; a
    /// warning that began at another time is about something else.
    func teller(of run: LateRun) -> Int? {
        let spans = told
        func distance(_ span: Span) -> Milliseconds { span.from.time(since: run.from) }
        return spans.indices.filter { index in
            let span = spans[index]
            return span.to >= run.from && distance(span) <= Self.patience
                && (span.severity == .bad || distance(span) >= -2 * Self.patience)
        }.min { left, right in
            let (left, right) = (spans[left], spans[right])
            guard (left.severity == .bad) == (right.severity == .bad) else { return left.severity == .bad }
            return (distance(left).length, left.key) < (distance(right).length, right.key)
        }
    }

    private mutating func note(_ told: ToldFinding, besides keys: Set<String>, _ now: WallTime) {
        let finding = told.finding
        let known = spans.lastIndex { $0.key == told.key && !$0.isOver && !finding.isElsewhere(than: $0.place) }
        if known == nil, let head = head(of: told, besides: keys) {
            spans[head].to = now
            spans[head].isPresent = true
            return
        }
        var span =
            known.map { spans[$0] }
            ?? Span(
                key: told.key, severity: finding.severity, title: finding.title, what: told.whole,
                from: finding.since ?? now, seen: now, to: now)
        if finding.severity == .bad { span.severity = .bad }
        if !told.whole.isEmpty { span.what = told.whole }
        (span.title, span.place) = (finding.title, finding.place)
        span.from = min(span.from, finding.since ?? now)
        span.to = now
        span.isPresent = true
        if let waiting = told.waiting { span.mostWaiting = max(span.mostWaiting ?? 0, waiting) }
        if let known { spans[known] = span } else { spans.append(span) }
    }

    /// The one that this finding is the tail of: another one of the same beginning that has just gone, and was as bad.
    private func head(of told: ToldFinding, besides keys: Set<String>) -> Int? {
        guard let since = told.finding.since else { return nil }
        return spans.lastIndex { span in
            !span.isOver && !keys.contains(span.key)
                && since.time(since: span.from).length <= Self.sameTime
                && (span.severity == .bad || told.finding.severity != .bad)
        }
    }
}
