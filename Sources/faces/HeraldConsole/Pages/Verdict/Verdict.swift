import HeraldTime
import HeraldTools

/// One thing that is worth knowing, from the worst to the best.
struct Finding: Sendable, Equatable {
    enum Level: String, Sendable {
        case good
        case warn
        case bad
        /// It is not known yet, or may not be known.
        case unknown
    }

    /// What it is, whatever its numbers: as long as this stays, it is the same finding.
    var key: String
    var level: Level
    /// A few words: `Delivering`, `Outage`.
    var headline: String
    /// Why, without a full stop.
    var cause: String?
    /// Since when; `nil` when its beginning was not seen.
    var since: WallTime?
    /// Whether it began before that, and only so much is known.
    var isSinceBound = false
    /// Whether that is what it tells, whatever was told under its key before.
    var isDated = false
    /// How many events wait because of it, or beside it; `nil` when that is not known.
    var waiting: Int64?
    var next: NextStep?

    init(
        _ key: String, _ level: Level, _ headline: String, _ cause: String? = nil, since: WallTime? = nil,
        waiting: Int64? = nil, next: NextStep? = nil
    ) {
        self.key = key
        self.level = level
        self.headline = headline
        self.cause = cause
        self.since = since
        self.waiting = waiting
        self.next = next
    }

    /// The whole in one line; times are UTC.
    func sentence(now: WallTime) -> String {
        headline + (since.map { " since \(isSinceBound ? "before " : "")\($0.clock(now: now))" } ?? "")
            + (cause.map { ": \($0)" } ?? "")
    }
}

/// What is the matter, in one word, with what else there is.
struct Verdict: Sendable, Equatable {
    /// The worst.
    var first: Finding
    /// The worse before the better.
    var others: [Finding]
    /// How many events wait for a retry; `nil` when that is not known.
    var retrying: Int64?

    init(_ first: Finding, others: [Finding] = [], retrying: Int64? = nil) {
        self.first = first
        self.others = others
        self.retrying = retrying
    }
}

/// Open dead letters of the last hour that have one cause.
struct DeadLetterCause: Sendable, Equatable {
    var count: Int
    /// How many of them may have arrived: a call for them got no answer.
    var mayHaveArrived = 0
    /// What they have in common.
    var pattern: FailurePattern?
}

/// What a verdict is made of.
struct Situation: Sendable {
    var now: WallTime
    var workers: [WorkerObservation] = []
    var group = GroupKnowledge.unasked
    /// Open dead letters of the last hour, by their causes.
    var deadLetters: [DeadLetterCause] = []
    /// What keeps the console from reading dead letters.
    var lettersProblem: String?
    /// The status with which a push service's calls are refused, where the retries tell one: 401 or 403.
    var refusals: [String: Int64] = [:]
    /// How each push service's newest calls ended.
    var calls: [String: ServiceCalls] = [:]
    /// What the newest retries say, where no worker's word is known.
    var retryTroubles: [RetryTrouble] = []
    /// What the calls of push services that deliver nothing have in common.
    var deadPatterns: [String: FailurePattern] = [:]
    /// Campaigns whose own events fail.
    var campaigns: [CampaignTrouble] = []
    /// Notifications that ended each second, at present.
    var notificationsPerSecond = 0.0
    /// When something else last explained that nothing became done, such as an outage; `nil` when nothing has.
    var standstillEnd: WallTime?
    /// By how many events the lag grows each second, as the console sees it; `nil` when it has not seen enough.
    var lagGrowth: Double?
}

/// Since when each finding has been there, from one look to the next.
struct FindingClock: Sendable {
    /// What is away for no longer than this has not ended; what comes no later than this after the first look may have been
    /// there before.
    private static let patience: Milliseconds = .seconds(10)

    private struct Entry: Sendable {
        var since: WallTime?
        var isSinceBound: Bool
        var seen: WallTime
    }

    private var entries: [String: Entry] = [:]
    /// When something was known for the first time.
    private var firstLook: WallTime?

    init() {}

    /// Fills in since when they have been there; what was there at the first look has no known beginning.
    mutating func date(_ verdict: Verdict, now: WallTime) -> Verdict {
        if verdict.first.level != .unknown { firstLook = firstLook ?? now }
        var dated = verdict
        dated.first = date(verdict.first, now)
        dated.others = verdict.others.map { date($0, now) }
        entries = entries.filter { now.time(since: $0.value.seen) <= Self.patience }
        return dated
    }

    private mutating func date(_ finding: Finding, _ now: WallTime) -> Finding {
        if finding.isDated { return finding }
        let isNew = firstLook.map { now.time(since: $0) > Self.patience } ?? false
        let former = entries[finding.key] ?? Entry(since: isNew ? now : nil, isSinceBound: false, seen: now)
        var dated = finding
        // What lasts has one beginning, however many tell of it: the earliest that was told.
        if let since = former.since, since <= finding.since ?? since {
            (dated.since, dated.isSinceBound) = (since, former.isSinceBound)
        }
        entries[finding.key] = Entry(since: dated.since, isSinceBound: dated.isSinceBound, seen: now)
        return dated
    }
}

extension WallTime {
    /// `02:14 UTC`, with the day when that is another one.
    func clock(now: WallTime) -> String {
        let isToday = text.prefix(10) == now.text.prefix(10)
        return (isToday ? "" : String(text.prefix(10)) + " ") + String(text.dropFirst(11).prefix(5)) + " UTC"
    }
}

/// Numbers as sentences have them: `9 000`.
func grouped(_ number: Int64) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "\u{A0}" }
        text.append(digit)
    }
    return text
}

/// `1 event waits`, `9 000 events wait`.
func counted(_ number: Int64, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(grouped(number)) \(many)"
}
