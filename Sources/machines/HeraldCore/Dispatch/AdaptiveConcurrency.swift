import HeraldTime

/// Finds how many calls in flight a backend bears, from the time that they take for them.
///
/// As long as a typical call takes about what the unhurried backend takes, the limit grows while calls wait: twofold with each
/// round trip at the beginning, and by a tenth with each round later. (A round, and what is typical: ``CallRound``.) A call
/// that takes twice that, and a tenth of a second more, is *slow*. Slow is not overloaded: only where calls wait for one another,
/// fewer of them take less time. So the limit is lowered on trial, unless there are more calls in flight by now anyway, which tells as
/// much.
///
/// | state | when | then |
/// |---|---|---|
/// | `starting` | a call has ended: that those wait which come with the first ones says nothing | `calm` |
/// | `calm` | a round is slow, and half as many calls more are in flight by now | `comparing` |
/// | `calm` | a round is slow | `draining`, to half its calls |
/// | `comparing` | so many more calls take hardly longer | `calm`: slow by itself |
/// | `comparing` | otherwise, if the round is slow | `draining`, to half its calls |
/// | `draining` | no more calls than the limit are in flight | `trying` |
/// | `trying` | fewer calls take less time, and are slow still | `draining`, to half of them |
/// | `trying` | fewer calls take less time | `calm`: it was overloaded |
/// | `trying` | fewer calls take as long | `calm`: slow by itself |
///
/// When the backend is slow by itself, that is how long it takes: the limit of before is back, and doubles with each round trip until no
/// call waits. (After TCP Vegas and the gradient of Netflix's concurrency-limits.)
struct AdaptiveConcurrency: Sendable, Equatable {
    /// The limit never gets lower.
    static let floor = 8
    /// Where it starts.
    static let start = 64
    /// A typical call that takes so much longer than an unhurried one is no sign of too many calls.
    static let slackMilliseconds = 100.0
    /// What a trial leaves of the calls in flight.
    static let trialShare = 0.5
    /// So many times the calls in flight tell as much as a trial.
    static let telling = 1.5

    /// What calls took.
    private struct Load: Equatable {
        let limit: Double
        let inFlight: Double
        let mostInFlight: Double
        let milliseconds: Double

        /// What they would take with so many in flight (milliseconds): half way from no difference to as much as there would be if each
        /// waited for all others.
        func expected(inFlight: Double) -> Double { milliseconds * (1 + inFlight / self.inFlight) / 2 }
    }

    private struct Trial: Equatable {
        /// Before the limit was lowered first, and before it was lowered last.
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
    /// What a typical call takes when the backend is not hurried (milliseconds).
    private var unhurried: Double?
    /// Whether calls waited because of the limit in this round.
    private var wasReached = false

    init(ceiling: Int) {
        self.ceiling = ceiling
        exact = Double(min(Self.start, ceiling))
    }

    /// Another ceiling from now on.
    ///
    /// What was found below it stays; above a former one the limit grows as it did up to there.
    mutating func use(ceiling: Int) {
        self.ceiling = ceiling
        exact = min(exact, Double(ceiling))
    }

    /// How many calls may be in flight.
    var limit: Int { Int(exact) }

    /// A call waited because of the limit.
    mutating func reached() { wasReached = true }

    /// A call ended: with an answer, or because there was none in time, or in a way that says nothing of the backend.
    ///
    /// - Parameters:
    ///   - number: calls are numbered in the order of their beginnings.
    ///   - duration: how long it took; `nil` when that says nothing.
    ///   - inFlight: how many calls were in flight, this one included.
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

    /// The calls under way never end.
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

    /// It takes hardly more by and by, and a single fast round says little.
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
            // Fewer cannot be tried.
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
