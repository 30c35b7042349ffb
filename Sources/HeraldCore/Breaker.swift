import HeraldTime

/// When calls that fail for now stop everything.
public struct BreakerRule: Sendable, Equatable {
    /// This share of calls has to fail; more than 1: never.
    public var share: Double
    /// Of at least so many within the window; 0: never.
    public var of: Int

    /// The defaults: four of five, of 100.
    public init(share: Double = 0.8, of: Int = 100) {
        self.share = share
        self.of = of
    }
}

/// The circuit breaker: counts how calls end in a sliding window and tells when too many fail for now.
///
/// One push service that fails alone, while another is well, breaks nothing: its events wait in the delay topics and
/// the others go on.
struct Breaker: Sendable, Equatable {
    /// The window is twice this long (milliseconds) at most: the half that is being filled, and the one before.
    static let halfWindow: Int64 = 10_000
    /// A push service with fewer calls in the window says nothing about itself.
    static let fewest = 10

    private struct Count: Sendable, Equatable {
        var calls = 0
        var failures = 0
    }

    private let rule: BreakerRule
    private let width: Int
    /// Both halves, one behind the other, each with a place for each push service.
    private var counts: [Count]
    /// Where the half begins that is being filled.
    private var current = 0
    private var turnsAt = MonotonicTime(nanoseconds: .min)

    init(rule: BreakerRule, width: Int) {
        self.rule = rule
        self.width = width
        counts = Array(repeating: Count(), count: 2 * width)
    }

    /// Notes how a call ended; true when that breaks the circuit.
    mutating func note(service: Int, failed: Bool, now: MonotonicTime) -> Bool {
        guard rule.of > 0 else { return false }
        turn(now)
        counts[current + service].calls += 1
        guard failed else { return false }
        counts[current + service].failures += 1
        return isBroken
    }

    /// Forgets everything.
    mutating func reset() {
        for index in counts.indices { counts[index] = Count() }
    }

    private mutating func turn(_ now: MonotonicTime) {
        guard now >= turnsAt else { return }
        if now >= turnsAt.advanced(byMilliseconds: Self.halfWindow) { reset() }
        turnsAt = now.advanced(byMilliseconds: Self.halfWindow)
        current = width - current
        for service in 0..<width { counts[current + service] = Count() }
    }

    private var isBroken: Bool {
        var all = Count()
        for service in 0..<width {
            let calls = counts[service].calls + counts[width + service].calls
            let failures = counts[service].failures + counts[width + service].failures
            if calls >= Self.fewest, Double(failures) < rule.share * Double(calls) { return false }
            all.calls += calls
            all.failures += failures
        }
        return all.calls >= rule.of && Double(all.failures) >= rule.share * Double(all.calls)
    }
}
