import HeraldTime

/// The trial of whether refusals become rarer at a lower rate.
///
/// A backend that got too much refuses the excess, and hardly anything at a rate that it can bear. One that refuses
/// some events for their own sake refuses the same share at every rate.
struct RateTrial: Sendable, Equatable {
    /// The number of calls that is enough, in ``shortest`` at least, unless ``telling`` refusals come sooner.
    static let enough = 100.0...1_000
    static let telling = 10.0
    /// The shortest duration, and the longest after ``fewest`` calls.
    static let shortest: Milliseconds = .seconds(1)
    static let longest: Milliseconds = .seconds(20)
    static let fewest = 20
    /// A limit above this share of what was offered is not low enough to make a difference.
    static let fair = 0.9
    /// When more than this share is refused the backend takes next to nothing, and a limit costs nothing.
    static let nothing = 0.8
    /// When at least this share of the refusals beyond the expected ones is left, they have nothing to do with the rate.
    static let same = 0.4
    /// The share of them, and the least number of refusals, that make this clear before the end.
    static let clearlySame = 0.6
    static let clear = 14
    /// The second limit of a trial, as a share of the first at most.
    static let second = 0.85

    /// The state before the trial.
    let before: AdaptiveRate.State
    /// The share of refused calls before, and the expected part of it.
    private var refusedShare: Double
    let expected: Double
    /// The calls offered per second.
    private let offered: Double
    private var begins: MonotonicTime
    /// Whether one verdict was that the refusals are unrelated to the rate.
    ///
    /// It takes two, at two limits: the first limit may come from a backend that allows bursts.
    private(set) var isSecond = false
    /// Whether the limit was set by what got through among refusals, when a backend that allows bursts had none left.
    private(set) var isAfterMixed = false
    private var calls = 0
    private var refusals = 0
    private var runs = 0
    private var wasRefused = false

    /// Begins when a real share of the calls was refused at this rate.
    init(
        before: AdaptiveRate.State, refusedShare: Double, expected: Double, offered: Double, begins: MonotonicTime
    ) {
        self.before = before
        self.refusedShare = refusedShare
        self.expected = expected
        self.offered = offered
        self.begins = begins
    }

    /// Begins when slightly more than expected were refused at a limit: only the second limit is left to try.
    init(before: AdaptiveRate.State, refusedShare: Double, expected: Double, begins: MonotonicTime) {
        self.before = before
        self.refusedShare = refusedShare
        self.expected = expected
        offered = .infinity
        isSecond = true
        self.begins = begins
    }

    /// Begins anew at another limit.
    init(again former: Self, isSecond: Bool, begins: MonotonicTime) {
        self = former
        self.isSecond = isSecond
        isAfterMixed = false
        if isSecond { refusedShare = former.share }
        self.begins = begins
        calls = 0
        refusals = 0
        runs = 0
    }

    /// Begins when the limit was set by the calls that got through while this share was refused.
    mutating func begin(afterMixed share: Double) {
        refusedShare = share
        isAfterMixed = true
    }

    /// The share of refused calls since it began.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    /// Delays the trial, because no calls follow until `moment`.
    mutating func wait(until moment: MonotonicTime) { begins = max(begins, moment) }

    mutating func count(refused: Bool) {
        calls += 1
        if refused { refusals += 1 }
        if refused, !wasRefused { runs += 1 }
        wasRefused = refused
    }

    func isOver(_ now: MonotonicTime) -> Bool {
        guard calls >= Self.fewest else { return false }
        let elapsed = now.time(since: begins)
        let enough = min(max(Self.telling / refusedShare, Self.enough.lowerBound), Self.enough.upperBound)
        if isClearlyRelated { return true }
        return elapsed >= Self.longest || elapsed >= Self.shortest && Double(calls) >= enough
    }

    /// Whether the refusals are known to be unrelated to the rate: they come as often as before.
    ///
    /// A limit that came from a backend that allows bursts gets no such verdict: fewer are refused at a lower rate.
    func isClearlyUnrelated(at limit: Double?) -> Bool {
        guard mayBeClear, refusals >= Self.clear, isFair(at: limit),
            RefusalSum.areMixed(runs: runs, refusals, of: calls)
        else { return false }
        let least = (Double(refusals) - 1.5 * Double(refusals).squareRoot()) / Double(calls)
        return least - expected >= Self.clearlySame * (refusedShare - expected)
    }

    private var mayBeClear: Bool { isAfterMixed && !isSecond }

    /// Whether the limit stays, so that the verdict comes soon.
    func holds(_ now: MonotonicTime) -> Bool {
        mayBeClear && now < begins.advanced(by: Self.shortest)
    }

    /// Whether refusals are known to have become rarer.
    var isClearlyRelated: Bool {
        guard !isSecond, calls >= Self.fewest else { return false }
        let most = (Double(refusals) + 2 * Double(refusals).squareRoot() + 3) / Double(calls)
        return most - expected <= Self.same * (refusedShare - expected)
    }

    /// Whether the limit is low enough to make a difference.
    func isFair(at limit: Double?) -> Bool {
        limit.map { $0 <= Self.fair * offered } ?? false
    }

    /// Whether the refusals are unrelated to the rate.
    func isUnrelated(at limit: Double?) -> Bool {
        // A real share at an edge needs a trial of its own.
        if offered == .infinity, share > expected + ExpectedRefusals.real { return false }
        return isFair(at: limit) && share < Self.nothing && share > expected + Self.same * (refusedShare - expected)
    }
}
