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
    private var halves: [[Count]]
    private var current = 0
    private var turnsAt = MonotonicTime(nanoseconds: .min)

    init(rule: BreakerRule, width: Int) {
        self.rule = rule
        halves = Array(repeating: Array(repeating: Count(), count: width), count: 2)
    }

    /// Notes how a call ended; true when that breaks the circuit.
    mutating func note(service: Int, failed: Bool, now: MonotonicTime) -> Bool {
        guard rule.of > 0 else { return false }
        turn(now)
        halves[current][service].calls += 1
        guard failed else { return false }
        halves[current][service].failures += 1
        return isBroken
    }

    /// Forgets everything.
    mutating func reset() {
        for half in halves.indices {
            for service in halves[half].indices { halves[half][service] = Count() }
        }
    }

    private mutating func turn(_ now: MonotonicTime) {
        guard now >= turnsAt else { return }
        if now >= turnsAt.advanced(byMilliseconds: Self.halfWindow) { reset() }
        turnsAt = now.advanced(byMilliseconds: Self.halfWindow)
        current = 1 - current
        for service in halves[current].indices { halves[current][service] = Count() }
    }

    private var isBroken: Bool {
        var all = Count()
        for service in halves[0].indices {
            let calls = halves[0][service].calls + halves[1][service].calls
            let failures = halves[0][service].failures + halves[1][service].failures
            if calls >= Self.fewest, Double(failures) < rule.share * Double(calls) { return false }
            all.calls += calls
            all.failures += failures
        }
        return all.calls >= rule.of && Double(all.failures) >= rule.share * Double(all.calls)
    }
}
