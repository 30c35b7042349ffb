import HeraldTime

/// Whether refusals became rarer because the rate was lowered.
///
/// A backend that bears less than it got refuses what is too much, and hardly anything at a rate that it bears. One that refuses some
/// events for their own sake refuses the same share of them at every rate.
struct RateTrial: Sendable, Equatable {
    /// So many calls, in ``shortest`` at least, are enough, or as many as have ``telling`` refusals.
    static let enough = 100.0...1_000
    static let telling = 10.0
    /// How long it takes at least, and at most if there were ``fewest`` calls.
    static let shortest: Milliseconds = .seconds(1)
    static let longest: Milliseconds = .seconds(20)
    static let fewest = 20
    /// A limit above this share of what was offered is not low enough to make a difference.
    static let fair = 0.9
    /// When more than this share is refused the backend takes next to nothing, and a limit costs nothing.
    static let nothing = 0.8
    /// When at least this share of the refusals beyond the expected ones is left, they have nothing to do with the rate.
    static let same = 0.4
    /// When so much of them is left of at least so many refusals, that is clear before the end.
    static let clearlySame = 0.6
    static let clear = 14
    /// The second limit of a trial, as a share of the first at most.
    static let second = 0.85

    /// What was in force.
    let before: AdaptiveRate.State
    /// The share of refused calls before, and how much of it was expected.
    private var refusedShare: Double
    let expected: Double
    /// How many calls a second there were.
    private let offered: Double
    private var begins: MonotonicTime
    /// Whether one verdict was that the refusals have nothing to do with the rate.
    ///
    /// It takes two, at two limits: the first may have been set by what a backend took that allows bursts.
    private(set) var isSecond = false
    /// Whether the limit was set by what got through among refusals, when a backend that allows bursts had none left.
    private(set) var isAfterMixed = false
    private var calls = 0
    private var refusals = 0
    private var runs = 0
    private var wasRefused = false

    /// A real share of the calls was refused, of so many a second.
    init(
        before: AdaptiveRate.State, refusedShare: Double, expected: Double, offered: Double, begins: MonotonicTime
    ) {
        self.before = before
        self.refusedShare = refusedShare
        self.expected = expected
        self.offered = offered
        self.begins = begins
    }

    /// A few more than expected were refused at a limit: there is only the second limit to try.
    init(before: AdaptiveRate.State, refusedShare: Double, expected: Double, begins: MonotonicTime) {
        self.before = before
        self.refusedShare = refusedShare
        self.expected = expected
        offered = .infinity
        isSecond = true
        self.begins = begins
    }

    /// The same from the beginning, at another limit.
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

    /// The limit was set by what got through while this share was refused.
    mutating func begin(afterMixed share: Double) {
        refusedShare = share
        isAfterMixed = true
    }

    /// The share of refused calls since it began.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    /// Nothing is called until `moment`.
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

    /// Whether it is known already that the refusals have nothing to do with the rate: they come as often as before.
    ///
    /// That is no verdict on a limit that was set by what a backend took that allows bursts: it refuses fewer at a lower rate.
    func isClearlyUnrelated(at limit: Double?) -> Bool {
        guard mayBeClear, refusals >= Self.clear, isFair(at: limit),
            RefusalSum.areMixed(runs: runs, refusals, of: calls)
        else { return false }
        let least = (Double(refusals) - 1.5 * Double(refusals).squareRoot()) / Double(calls)
        return least - expected >= Self.clearlySame * (refusedShare - expected)
    }

    private var mayBeClear: Bool { isAfterMixed && !isSecond }

    /// Whether the limit stays as it is, so that it is clear soon.
    func holds(_ now: MonotonicTime) -> Bool {
        mayBeClear && now < begins.advanced(by: Self.shortest)
    }

    /// Whether it is known already that refusals have become rarer.
    var isClearlyRelated: Bool {
        guard !isSecond, calls >= Self.fewest else { return false }
        let most = (Double(refusals) + 2 * Double(refusals).squareRoot() + 3) / Double(calls)
        return most - expected <= Self.same * (refusedShare - expected)
    }

    /// Whether the limit is low enough to make a difference.
    func isFair(at limit: Double?) -> Bool {
        limit.map { $0 <= Self.fair * offered } ?? false
    }

    /// Whether the refusals have nothing to do with the rate.
    func isUnrelated(at limit: Double?) -> Bool {
        // A real share at an edge is for a trial of its own to judge.
        if offered == .infinity, share > expected + ExpectedRefusals.real { return false }
        return isFair(at: limit) && share < Self.nothing && share > expected + Self.same * (refusedShare - expected)
    }
}
