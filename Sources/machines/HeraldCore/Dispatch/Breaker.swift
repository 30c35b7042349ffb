import HeraldTime

/// The rule by which a breaker opens and stops everything: ``Breaker`` for temporary failures, ``DeadLetterBreaker``
/// for rejections.
public struct BreakerRule: Sendable, Equatable {
    /// The share of users that must fail, or of answers that must reject with one status; more than 1: never.
    public var share: Double
    /// The least number of users within the window, or of answers; 0: never.
    public var of: Int

    /// The circuit breaker's defaults: four of five, of 100.
    public init(share: Double = 0.8, of: Int = 100) {
        self.share = share
        self.of = of
    }

    /// Whether it ever opens.
    var isOn: Bool { of > 0 && share <= 1 }
}

/// The circuit breaker: counts the ends of calls in a sliding window and trips on too many temporary failures.
///
/// Repeated failures of one user or event say nothing about others: a failing user counts once, and a retry counts only
/// when no call has got through since its event failed last. One push service or one request topic that fails alone,
/// while another is well, does not trip the breaker: its events wait in the delay topics and the others go on.
struct Breaker: Sendable {
    /// Half of the longest window, which is the half being filled and the one before.
    static let halfWindow: Milliseconds = .seconds(10)
    /// A push service of a topic with fewer calls in the window is no evidence about itself.
    static let fewest = 10
    /// The number of failing users that are distinguished; with more, some may count twice.
    static let users = 1_024

    fileprivate struct Count: Sendable {
        var passes = 0
        var failures = 0
        /// Users with failures, each of them once.
        var users = 0
    }

    private var rule: BreakerRule
    private let width: Int
    /// Both halves in a row, each with a place for each push service of each class.
    private var counts: [Count]
    /// The failing users, each at a place of its own, marked with the half in which it was counted.
    private var failing = Array(repeating: UInt64(0), count: users)
    /// The number of the half that is being filled.
    private var half: UInt64 = 0
    /// The start of its counts.
    private var current = 0
    private var turnsAt = MonotonicTime.distantPast
    /// The time at which a call last got through.
    private(set) var lastPass = WallTime(milliseconds: .min)

    /// - Parameters:
    ///   - width: the number of push services.
    ///   - classes: the number of classes of calls.
    init(rule: BreakerRule, width: Int, classes: Int) {
        self.rule = rule
        self.width = width * classes
        counts = Array(repeating: Count(), count: 2 * width * classes)
    }

    /// Replaces the rule from the next failure on; the counts stay.
    mutating func use(_ rule: BreakerRule) { self.rule = rule }

    /// Notes that a call got through.
    ///
    /// - Parameter place: the call's class and push service; `nil` when it does not count.
    mutating func passed(_ place: Int?, now: Moment) {
        lastPass = now.wall
        guard rule.of > 0, let place else { return }
        turn(now.monotonic)
        counts[current + place].passes += 1
    }

    /// Notes a temporary failure; true when it breaks the circuit.
    mutating func failed(_ place: Int, user: UInt64, now: Moment) -> Bool {
        guard rule.of > 0 else { return false }
        turn(now.monotonic)
        counts[current + place].failures += 1
        let mark = user &+ half &* 0x9E37_79B9_7F4A_7C15
        let index = Int(truncatingIfNeeded: user & UInt64(Self.users - 1))
        if failing[index] != mark {
            failing[index] = mark
            counts[current + place].users += 1
        }
        return isBroken
    }

    /// Forgets everything except the time at which a call last got through.
    mutating func reset() {
        for index in counts.indices { counts[index] = Count() }
        half += 1
    }

    private mutating func turn(_ now: MonotonicTime) {
        guard now >= turnsAt else { return }
        if now >= turnsAt.advanced(by: Self.halfWindow) { reset() }
        turnsAt = now.advanced(by: Self.halfWindow)
        half += 1
        current = width - current
        for place in 0..<width { counts[current + place] = Count() }
    }

    private var isBroken: Bool {
        var all = Count()
        for place in 0..<width {
            var count = counts[place]
            count.add(counts[width + place])
            if count.passes + count.failures >= Self.fewest, !fails(count) { return false }
            all.add(count)
        }
        return all.users + all.passes >= rule.of && fails(all)
    }

    private func fails(_ count: Count) -> Bool {
        Double(count.users) >= rule.share * Double(count.users + count.passes)
    }
}

extension Breaker.Count {
    fileprivate mutating func add(_ other: Self) {
        passes += other.passes
        failures += other.failures
        users += other.users
    }
}
