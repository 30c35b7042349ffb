import HeraldTime

/// Finds the number of calls in flight that a backend can bear, from the durations of calls.
///
/// While a typical call takes about as long as on an unhurried backend and calls wait, the limit grows: it doubles with
/// each round trip at the beginning, and grows by a tenth with each round later. (``CallRound`` defines a round and a
/// typical call.) A call that takes twice as long, plus a tenth of a second, is *slow*. Slow is not overloaded: only
/// when calls wait for one another do fewer of them take less time. So the limit is lowered on trial, unless many more
/// calls are in flight by now, which is as conclusive.
///
/// | state | when | then |
/// |---|---|---|
/// | `starting` | a call has ended: the first calls always have others waiting | `calm` |
/// | `calm` | a round is slow, and half as many calls more are in flight by now | `comparing` |
/// | `calm` | a round is slow | `draining`, to half its calls |
/// | `comparing` | the additional calls take hardly longer | `calm`: slow by itself |
/// | `comparing` | otherwise, if the round is slow | `draining`, to half its calls |
/// | `draining` | no more calls than the limit are in flight | `trying` |
/// | `trying` | fewer calls take less time, and are slow still | `draining`, to half of them |
/// | `trying` | fewer calls take less time | `calm`: it was overloaded |
/// | `trying` | fewer calls take as long | `calm`: slow by itself |
///
/// When the backend is slow by itself, its present duration becomes the normal one: the earlier limit returns, and
/// doubles with each round trip until no call waits. (After TCP Vegas and the gradient of Netflix's
/// concurrency-limits.)
struct AdaptiveConcurrency: Sendable, Equatable {
    /// The lowest limit.
    static let floor = 8
    /// The initial limit.
    static let start = 64
    /// The additional time of a typical call that is no sign of too many calls.
    static let slackMilliseconds = 100.0
    /// The share of the calls in flight that a trial keeps.
    static let trialShare = 0.5
    /// The growth of the calls in flight that is as conclusive as a trial.
    static let telling = 1.5

    /// The durations of calls.
    private struct Load: Equatable {
        let limit: Double
        let inFlight: Double
        let mostInFlight: Double
        let milliseconds: Double

        /// The expected time with this many in flight (milliseconds): half way between no difference and each call
        /// waiting for all others.
        func expected(inFlight: Double) -> Double { milliseconds * (1 + inFlight / self.inFlight) / 2 }
    }

    private struct Trial: Equatable {
        /// The loads before the limit was lowered first, and last.
        let first: Load
        let before: Load
    }

    private enum State: Equatable {
        case starting
        case calm
        case comparing(Load)
        case draining(Trial)
        case trying(Trial)
    }

    private var ceiling: Int
    private var exact: Double
    private var state = State.starting
    private var round = CallRound()
    /// Below this the limit grows with each answer, as at the beginning.
    private var threshold = Double.infinity
    /// The duration of a typical call on an unhurried backend (milliseconds).
    private var unhurried: Double?
    /// Whether calls waited because of the limit in this round.
    private var wasReached = false

    init(ceiling: Int) {
        self.ceiling = ceiling
        exact = Double(min(Self.start, ceiling))
    }

    /// Replaces the ceiling.
    ///
    /// The limit found below it stays; above a former ceiling the limit grows as it did up to there.
    mutating func use(ceiling: Int) {
        self.ceiling = ceiling
        exact = min(exact, Double(ceiling))
    }

    /// The number of calls that may be in flight.
    var limit: Int { Int(exact) }

    /// A call waited because of the limit.
    mutating func reached() { wasReached = true }

    /// Notes the end of a call: an answer, no answer in time, or an end that is no evidence about the backend.
    ///
    /// - Parameters:
    ///   - number: calls are numbered in the order of their beginnings.
    ///   - duration: the call's duration; `nil` when it is no evidence.
    ///   - inFlight: the number of calls in flight, this one included.
    ///   - latest: the number of the call that began last.
    mutating func ended(
        _ number: UInt64, duration: Milliseconds?, answered: Bool, inFlight: Int, latest: UInt64, now: MonotonicTime
    ) {
        switch state {
        case .starting:
            state = .calm
            wasReached = false
        case .calm: if answered, wasReached, exact < threshold { exact = min(exact + 1, Double(ceiling)) }
        case .draining(let trial):
            if inFlight <= limit {
                state = .trying(trial)
                startRound(after: latest, now)
            }
            return
        case .comparing, .trying: break
        }
        guard round.ended(number, duration: duration, inFlight: inFlight, latest: latest, now: now) else {
            return
        }
        if let typical = round.typical { judge(typical, inFlight: inFlight) }
        startRound(after: latest, now)
    }

    /// Forgets the calls under way, which never end.
    mutating func forgetCalls(latest: UInt64) { startRound(after: latest, .distantPast) }

    private mutating func startRound(after latest: UInt64, _ now: MonotonicTime) {
        round.restart(after: latest, now: now)
        wasReached = false
    }

    private mutating func judge(_ typical: Double, inFlight: Int) {
        let load = Load(
            limit: exact, inFlight: round.inFlight, mostInFlight: Double(round.mostInFlight), milliseconds: typical)
        switch state {
        case .calm:
            learn(typical)
            if !isSlow(load) {
                if wasReached { exact = min(exact + max(1, exact / 10), Double(ceiling)) }
            } else if Double(inFlight) >= Self.telling * load.inFlight {
                state = .comparing(load)
            } else {
                lower(load, first: load)
            }
        case .comparing(let before):
            state = .calm
            if load.inFlight >= Self.telling * before.inFlight, typical < before.expected(inFlight: load.inFlight) {
                isSlowByItself(load, typical)
            } else if isSlow(load) {
                lower(load, first: load)
            }
        case .trying(let trial):
            state = .calm
            if typical < trial.before.expected(inFlight: exact) {
                threshold = exact
                if isSlow(load) { lower(load, first: trial.first) }
            } else if typical < trial.first.expected(inFlight: exact) {
                // It was overloaded, and now it is as fast as it can be.
                unhurried = typical
                exact = min(trial.before.limit, Double(ceiling))
            } else {
                isSlowByItself(trial.first, typical)
            }
        case .starting, .draining: break
        }
    }

    /// Learns slowly that calls take less time: a single fast round is weak evidence.
    private mutating func learn(_ typical: Double) {
        unhurried = unhurried.map { min(1.002 * $0, $0 + (typical - $0) / 4) } ?? typical
    }

    private func isSlow(_ load: Load) -> Bool {
        guard let unhurried else { return false }
        return load.milliseconds > max(2 * unhurried, unhurried + Self.slackMilliseconds)
    }

    private mutating func lower(_ load: Load, first: Load) {
        let fewer = max(Double(min(Self.floor, ceiling)), Self.trialShare * load.inFlight)
        guard fewer < load.inFlight else {
            // A trial with fewer calls is impossible.
            unhurried = load.milliseconds
            return
        }
        exact = fewer
        state = .draining(Trial(first: first, before: load))
    }

    private mutating func isSlowByItself(_ load: Load, _ typical: Double) {
        unhurried = typical
        threshold = .infinity
        exact = min(max(load.limit, 2 * load.mostInFlight), Double(ceiling))
    }
}
