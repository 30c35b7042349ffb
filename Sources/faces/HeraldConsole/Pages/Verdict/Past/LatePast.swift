import HeraldKafka
import HeraldTime

/// A delivery of the last day, as its result tells.
struct PastDelivery: Sendable, Equatable {
    /// Where its request is.
    var request: TopicPartition
    var offset: Int64
    var completed: WallTime
    /// How many deliveries it stands for: more than one where not all results were read.
    var weight = 1.0
}

/// How many events came late, and how late they were.
struct Lateness: Sendable, Equatable {
    var count: Int
    /// Whether that is all of them, and not those that were found among the results that were read.
    var isExact: Bool
    var worst: Milliseconds

    /// Both together: they have no event in common.
    static func + (left: Self, right: Self) -> Self {
        Self(
            count: left.count + right.count, isExact: left.isExact && right.isExact,
            worst: max(left.worst, right.worst))
    }
}

struct LateRun: Sendable, Equatable {
    /// When the first of them was due; the earliest twentieth is left out: retries of a single user may be hours old.
    var from: WallTime
    /// When the last of them was delivered.
    var to: WallTime
    var lateness: Lateness
    /// How many of them waited at the same time, at most.
    var mostWaiting: Int
}

/// Which events of the last day came late: pure, fed with each delivery once.
///
/// An event is late when a delivery of it came more than a minute after it was published, or due if that was later. It counts
/// once, however many push services it is for, and by the last of its late deliveries. Nothing is estimated: what was not
/// read makes a number the least that it can be.
struct LatePast: Sendable, Equatable {
    static let quarters: Int64 = 96
    static let quarterLength: Milliseconds = .minutes(15)
    static let lateAfter: Milliseconds = .minutes(1)
    /// Below this share of what was delivered lateness is a matter of single users, whose calls are retried.
    static let leastShare = 0.05
    /// Late ones between whose waiting so much time passes are of different runs.
    private static let gap: Milliseconds = .minutes(1)
    private static let earliestShare = 0.05

    private struct Late: Sendable, Equatable {
        var due: WallTime
        var completed: WallTime
        /// How many deliveries of it were late.
        var deliveries: Double
    }

    private struct Quarter: Sendable, Equatable {
        var lookedAt = 0
        var delivered = 0.0
        var isWhole = true
    }

    /// So many late events are remembered at most, in about 50 bytes each.
    private let limit: Int
    /// By the number of the quarter of an hour since the Unix epoch.
    private var quarters: [Int64: Quarter] = [:]
    private var late: [TopicPartition: [Int64: Late]] = [:]
    private var count = 0
    /// Whether there were more than are remembered.
    private var isFull = false
    /// Deliveries that were not late, by the minute.
    private var prompt: [Int64: Double] = [:]

    init(limit: Int = 500_000) {
        self.limit = limit
    }

    static func quarter(of moment: WallTime) -> Int64 { moment.milliseconds / quarterLength.count }

    static func isLate(due: WallTime, completed: WallTime) -> Bool {
        completed.time(since: due) > lateAfter
    }

    /// Takes a delivery whose result is of this quarter of an hour.
    ///
    /// - Parameter due: when the event was published, or due if that was later; `nil` when it was not late.
    mutating func add(_ delivery: PastDelivery, due: WallTime?, quarter number: Int64) {
        quarters[number, default: Quarter()].lookedAt += 1
        quarters[number, default: Quarter()].delivered += delivery.weight
        guard let due, Self.isLate(due: due, completed: delivery.completed) else {
            prompt[Self.minute(delivery.completed), default: 0] += delivery.weight
            return
        }
        let known = late[delivery.request]?[delivery.offset]
        guard known != nil || count < limit else {
            isFull = true
            return
        }
        if known == nil { count += 1 }
        late[delivery.request, default: [:]][delivery.offset] = Late(
            due: due, completed: max(delivery.completed, known?.completed ?? delivery.completed),
            deliveries: delivery.weight + (known?.deliveries ?? 0))
    }

    /// Notes that a quarter of an hour was looked at.
    ///
    /// - Parameter isWhole: whether all of its results were read, and all that they tell of was found.
    mutating func noteLook(at number: Int64, isWhole: Bool) {
        if !isWhole || quarters[number] == nil { quarters[number, default: Quarter()].isWhole = isWhole }
    }

    /// Forgets what is more than a day ago.
    mutating func forget(now: WallTime) {
        let oldest = Self.quarter(of: now) - Self.quarters + 1
        let begin = oldest * Self.quarterLength.count
        guard quarters.keys.contains(where: { $0 < oldest }) else { return }
        quarters = quarters.filter { $0.key >= oldest }
        prompt = prompt.filter { $0.key >= begin / Milliseconds.minutes(1).count }
        late = late.mapValues { $0.filter { $0.value.completed.milliseconds >= begin } }.filter { !$0.value.isEmpty }
        count = late.values.reduce(0) { $0 + $1.count }
        if count == 0 { isFull = false }
    }

    struct Report: Sendable, Equatable {
        /// The times in which many came late, the first first.
        var runs: [LateRun] = []
        /// Those that came late outside of them.
        var scattered: Lateness?
        /// How many deliveries were looked at, and of about how many.
        var lookedAt = 0
        var delivered = 0
        var isComplete = false
    }

    var report: Report {
        let all = late.values.flatMap(\.values).sorted { ($0.due, $0.completed) < ($1.due, $1.completed) }
        var byMinute: [Int64: Double] = [:]
        for one in all { byMinute[Self.minute(one.due), default: 0] += one.deliveries }
        func isOfMany(_ one: Late) -> Bool {
            let minute = Self.minute(one.due)
            return isMuch(byMinute[minute] ?? 0, of: prompt[minute] ?? 0)
        }
        var scattered = all.filter { !isOfMany($0) }
        var report = Report()
        for members in Self.chains(all.filter(isOfMany)) {
            if let run = run(members) { report.runs.append(run) } else { scattered += members }
        }
        let isExact = !isFull && quarters.values.allSatisfy(\.isWhole)
        report.scattered = Self.lateness(scattered, isExact: isExact)
        report.lookedAt = quarters.values.reduce(0) { $0 + $1.lookedAt }
        report.delivered = Int(quarters.values.reduce(0) { $0 + $1.delivered }.rounded())
        return report
    }

    static func minute(_ moment: WallTime) -> Int64 { moment.milliseconds / Milliseconds.minutes(1).count }

    private func isMuch(_ late: Double, of prompt: Double) -> Bool { late >= (late + prompt) * Self.leastShare }

    /// Those that waited one soon after the other, in the order in which they were due.
    private static func chains(_ late: [Late]) -> [[Late]] {
        var chains: [[Late]] = []
        var end = WallTime(milliseconds: .min)
        for one in late {
            if chains.isEmpty || one.due.time(since: end) > gap { chains.append([]) }
            chains[chains.count - 1].append(one)
            end = max(end, one.completed)
        }
        return chains
    }

    private static func lateness(_ late: [Late], isExact: Bool) -> Lateness? {
        late.map { $0.completed.time(since: $0.due) }.max().map {
            Lateness(count: late.count, isExact: isExact, worst: $0)
        }
    }

    /// `nil` when they are few among what was delivered in their time.
    private func run(_ late: [Late]) -> LateRun? {
        guard let to = late.map(\.completed).max(), let begin = late.first?.due else { return nil }
        let from = late[min(late.count - 1, Int(Double(late.count) * Self.earliestShare))].due
        // Not minute by minute: results tell any moment, and there may be millions between two of them.
        let minutes = Self.minute(from)...Self.minute(to)
        let others = prompt.reduce(0) { minutes.contains($1.key) ? $0 + $1.value : $0 }
        guard isMuch(late.reduce(0) { $0 + $1.deliveries }, of: others) else { return nil }
        let isExact = !isFull && isWhole(from: begin)
        return Self.lateness(late, isExact: isExact).map {
            LateRun(from: from, to: to, lateness: $0, mostWaiting: Self.mostWaiting(late))
        }
    }

    /// Whether all was read since then: what was due before may be delivered at any time.
    private func isWhole(from moment: WallTime) -> Bool {
        guard let newest = quarters.keys.max() else { return false }
        let oldest = min(newest, max(Self.quarter(of: moment), newest - Self.quarters + 1))
        return (oldest...newest).allSatisfy { quarters[$0]?.isWhole == true }
    }

    /// How many were due and not delivered at the same time.
    private static func mostWaiting(_ late: [Late]) -> Int {
        let changes = (late.map { ($0.due, 1) } + late.map { ($0.completed, -1) }).sorted { $0 < $1 }
        var (waiting, most) = (0, 0)
        for (_, change) in changes {
            waiting += change
            most = max(most, waiting)
        }
        return most
    }
}
