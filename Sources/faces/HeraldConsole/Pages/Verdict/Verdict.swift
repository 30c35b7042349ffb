import HeraldCampaigns
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// A finding as the verdict tells it.
struct ToldFinding: Sendable, Equatable {
    var finding: Finding
    /// What it is, whatever its numbers: as long as this stays, it is the same one.
    var key: String
    /// Whether it began before its `since`, and only so much is known.
    var isSinceBound = false
    /// Whether its `since` is what it tells, whatever was told under its key before.
    var isDated = false
    /// How many events wait because of it, or beside it; `nil` when that is not known.
    var waiting: Int64?
    /// What those have in common that it is about, each in a few words.
    var traits: [String] = []
    /// What follows from it, and ends with it.
    var consequences: [ToldFinding] = []
    /// A page of the console that helps.
    var href: String?
    /// The dead letters that a replay could be planned of, as a filter of the page Failures.
    var plan: JSONValue?

    init(_ finding: Finding, key: String? = nil, waiting: Int64? = nil) {
        self.finding = finding
        self.key = key ?? finding.key
        self.waiting = waiting
        href = Self.pages[finding.key]
    }

    /// What the console finds itself.
    ///
    /// - Parameter about: what tells it from others of its kind, such as a campaign's name.
    init(
        _ key: FindingKey, title: String? = nil, _ what: String, place: [String] = [], about: String? = nil,
        since: WallTime? = nil, waiting: Int64? = nil, step: String? = nil
    ) {
        self.init(
            Finding(key, title: title, what, place: place, since: since, step: step),
            key: about.map { "\(key.rawValue) \($0)" }, waiting: waiting)
    }

    private static let pages = [
        "outage-dead-letter-breaker": "/failures", FindingKey.deadLetters.rawValue: "/failures",
        FindingKey.unanswered.rawValue: "/failures", FindingKey.credentials.rawValue: "/failures",
    ]

    /// What happened, with what those have in common that it is about.
    var whole: String { ([finding.what] + traits).filter { !$0.isEmpty }.joined(separator: "; ") }

    /// The whole in one line; times are UTC.
    func sentence(now: WallTime) -> String {
        finding.title + (finding.since.map { " since \(isSinceBound ? "before " : "")\($0.clock(now: now))" } ?? "")
            + (whole.isEmpty ? "" : ": \(whole)")
    }
}

/// What is the matter, in one word, with what else there is.
struct Verdict: Sendable, Equatable {
    var first: ToldFinding
    /// The worse before the better.
    var others: [ToldFinding] = []
    /// How many events wait for a retry; `nil` when that is not known.
    var retrying: Int64?
}

/// Open dead letters of the last hour that have one cause.
struct DeadLetterCause: Sendable, Equatable {
    var count: Int
    /// How many of them may have arrived: a call for them got no answer.
    var mayHaveArrived = 0
    /// What they have in common.
    var pattern: FailurePattern?
}

struct Situation: Sendable {
    var now: WallTime
    var workers: [WorkerObservation] = []
    var group = GroupKnowledge.unasked
    /// The workers that vanished a short while ago, and whose place nobody has taken.
    var departures: [DepartedWorkers.Departure] = []
    /// Since when workers that have answered before do not.
    var silentSince: [String: WallTime] = [:]
    /// Open dead letters of the last hour, by their causes.
    var deadLetters: [DeadLetterCause] = []
    /// What keeps the console from reading dead letters.
    var lettersProblem: String?
    var calls: [String: ServiceCalls] = [:]
    /// What the newest retries say, where no worker's word is known.
    var retryTroubles: [RetryTrouble] = []
    /// What the calls of push services that deliver nothing have in common.
    var deadPatterns: [String: FailurePattern] = [:]
    var campaigns: [CampaignTrouble] = []
    /// Those that can be paused.
    var runningCampaigns: Set<String> = []
    /// Notifications that ended each second, at present.
    var notificationsPerSecond = 0.0
    /// When something else last explained that nothing became done, such as an outage; `nil` when nothing has.
    var standstillEnd: WallTime?
    /// By how many events the lag grows each second, as the console sees it; `nil` when it has not seen enough.
    var lagGrowth: Double?
}

/// Since when each finding has been there, from one look to the next.
struct FindingClock: Sendable {
    /// What comes no later than this after the first look may have been there before.
    private static let patience: Milliseconds = .seconds(10)

    private struct Entry: Sendable {
        var since: WallTime?
        var isSinceBound: Bool
        var seen: WallTime
        var place: [String] = []
    }

    private var entries: [String: Entry] = [:]
    /// When something was known for the first time.
    private var firstLook: WallTime?

    /// Fills in since when they have been there; what was there at the first look has no known beginning.
    mutating func date(_ verdict: Verdict, now: WallTime) -> Verdict {
        if verdict.first.finding.severity != .unknown { firstLook = firstLook ?? now }
        // As long as its entry of the last day goes on, its beginning stays.
        entries = entries.filter { now.time(since: $0.value.seen) < VerdictLog.gap }
        var dated = verdict
        dated.first = date(verdict.first, now)
        dated.others = verdict.others.map { date($0, now) }
        return dated
    }

    private mutating func date(_ told: ToldFinding, _ now: WallTime) -> ToldFinding {
        if told.isDated { return told }
        let isNew = firstLook.map { now.time(since: $0) > Self.patience } ?? false
        let known = entries[told.key].flatMap { told.finding.isElsewhere(than: $0.place) ? nil : $0 }
        let former = known ?? Entry(since: isNew ? now : nil, isSinceBound: false, seen: now)
        var dated = told
        // What lasts has one beginning, however many tell of it: the earliest that was told.
        if let since = former.since, since <= told.finding.since ?? since {
            (dated.finding.since, dated.isSinceBound) = (since, former.isSinceBound)
        }
        // What stands with its cause for a while goes on under its own name afterwards.
        dated.consequences = told.consequences.map { date($0, now) }
        entries[told.key] = Entry(
            since: dated.finding.since, isSinceBound: dated.isSinceBound, seen: now, place: told.finding.place)
        return dated
    }
}

extension Finding {
    /// Whether it is about other workers, topics or brokers: then it is another one, however soon it comes.
    func isElsewhere(than former: [String]) -> Bool {
        !place.isEmpty && !former.isEmpty && Set(place).isDisjoint(with: former)
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
func grouped(_ number: Int64) -> String { CampaignWords.number(Int(number)).replacing(" ", with: "\u{A0}") }

/// `1 event waits`, `9 000 events wait`.
func counted(_ number: Int64, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(grouped(number)) \(many)"
}
