import HeraldTime

/// What samples of a quarter of an hour of results tell: pure.
struct PastQuarter: Sendable, Equatable {
    static let milliseconds: Int64 = 900_000
    /// A notification is late when it was delivered so long after it was published, or due if that was later.
    static let lateMilliseconds: Int64 = 60_000

    /// A notification that was delivered late.
    struct Late: Sendable, Equatable {
        /// When it was published, or due if that was later.
        var due: WallTime
        var completed: WallTime
        /// How many notifications it stands for.
        var weight: Double
    }

    /// Delivered notifications that were looked at.
    private(set) var lookedAt = 0
    /// How many they stand for.
    private(set) var delivered = 0.0
    private(set) var late: [Late] = []
    /// Whether all of its results were looked at.
    var isWhole = true

    init() {}

    /// Takes one that was delivered and stands for so many.
    ///
    /// - Parameter due: when it was published, or due if that was later; `nil` when it was not late.
    mutating func add(due: WallTime?, completed: WallTime, weight: Double) {
        lookedAt += 1
        delivered += weight
        guard let due, Self.isLate(due: due, completed: completed) else { return }
        late.append(Late(due: due, completed: completed, weight: weight))
    }

    static func isLate(due: WallTime, completed: WallTime) -> Bool {
        completed.milliseconds(since: due) > lateMilliseconds
    }

    /// Whether so many came late that it is no matter of single users, whose calls are retried.
    fileprivate var isLate: Bool {
        let sum = late.reduce(0) { $0 + $1.weight }
        return sum > 0 && sum >= delivered * LatePast.leastShare
    }
}

/// How many notifications came late, and how late they were.
struct Lateness: Sendable, Equatable {
    var count: Int
    /// Whether that is counted, and not estimated from samples.
    var isExact: Bool
    var worstMilliseconds: Int64
}

/// A time in which many notifications came late.
struct LateRun: Sendable, Equatable {
    /// When the first of them was due; the earliest twentieth is left out: retries of a single user may be hours old.
    var from: WallTime
    /// When the last of them was delivered.
    var to: WallTime
    var lateness: Lateness
    /// How many of them waited at the same time, at most.
    var mostWaiting: Int
}

/// Which notifications of the last day came late, from samples of each quarter of an hour: pure.
struct LatePast: Sendable, Equatable {
    static let quarters: Int64 = 96
    /// Below this share of what was delivered in a quarter of an hour lateness is a matter of single users.
    static let leastShare = 0.05
    /// Late ones between whose waiting so much time passes are of different runs.
    private static let gapMilliseconds: Int64 = 60_000
    private static let earliestShare = 0.05

    /// By the number of the quarter of an hour since the Unix epoch.
    private(set) var quarters: [Int64: PastQuarter] = [:]

    init() {}

    static func quarter(of moment: WallTime) -> Int64 { moment.milliseconds / PastQuarter.milliseconds }

    /// Takes what is known of a quarter of an hour now, and forgets what is more than a day ago.
    mutating func note(_ quarter: PastQuarter, number: Int64, now: WallTime) {
        quarters[number] = quarter
        let oldest = Self.quarter(of: now) - Self.quarters
        quarters = quarters.filter { $0.key > oldest }
    }

    /// The times in which many came late, the first first.
    var runs: [LateRun] {
        var found: [LateRun] = []
        var members: [PastQuarter.Late] = []
        var end = WallTime(milliseconds: .min)
        let late = quarters.values.filter(\.isLate).flatMap(\.late).sorted { $0.due < $1.due }
        for one in late {
            if one.due.milliseconds(since: end) > Self.gapMilliseconds, let run = run(members) {
                found.append(run)
                members = []
            }
            members.append(one)
            end = max(end, one.completed)
        }
        if let run = run(members) { found.append(run) }
        return found
    }

    /// Those that waited at any time between; `nil` when none did.
    func lateness(from: WallTime, to: WallTime) -> Lateness? {
        lateness(quarters.values.flatMap(\.late).filter { $0.due <= to && $0.completed >= from })
    }

    /// Those that came late outside of the runs.
    var scattered: Lateness? { lateness(quarters.values.filter { !$0.isLate }.flatMap(\.late)) }

    /// How many deliveries were looked at, and of how many they are a sample.
    var basis: (lookedAt: Int, delivered: Int) {
        (
            quarters.values.reduce(0) { $0 + $1.lookedAt },
            Int(quarters.values.reduce(0) { $0 + $1.delivered }.rounded())
        )
    }

    private func lateness(_ late: [PastQuarter.Late]) -> Lateness? {
        guard let worst = late.map({ $0.completed.milliseconds(since: $0.due) }).max() else { return nil }
        let numbers = Set(late.map { Self.quarter(of: $0.completed) })
        return Lateness(
            count: Int(late.reduce(0) { $0 + $1.weight }.rounded()),
            isExact: numbers.allSatisfy { quarters[$0]?.isWhole ?? false }, worstMilliseconds: worst)
    }

    private func run(_ late: [PastQuarter.Late]) -> LateRun? {
        guard let lateness = lateness(late), let to = late.map(\.completed).max() else { return nil }
        let weight = late.reduce(0) { $0 + $1.weight }
        var passed = 0.0
        let first = late.first { one in
            passed += one.weight
            return passed >= weight * Self.earliestShare
        }
        return LateRun(
            from: first?.due ?? to, to: to, lateness: lateness, mostWaiting: Self.mostWaiting(late))
    }

    /// How many were due and not delivered at the same time.
    private static func mostWaiting(_ late: [PastQuarter.Late]) -> Int {
        let changes =
            (late.map { (at: $0.due, change: $0.weight) } + late.map { (at: $0.completed, change: -$0.weight) })
            .sorted { ($0.at, $0.change) < ($1.at, $1.change) }
        var (waiting, most) = (0.0, 0.0)
        for (_, change) in changes {
            waiting += change
            most = max(most, waiting)
        }
        return Int(most.rounded())
    }
}
