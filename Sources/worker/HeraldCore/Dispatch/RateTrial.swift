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
    static let shortestMilliseconds: Int64 = 1_000
    static let longestMilliseconds: Int64 = 20_000
    static let fewest = 20
    /// A limit above this share of what was offered is not low enough to make a difference.
    static let fair = 0.9
    /// When more than this share is refused the backend takes next to nothing, and a limit costs nothing.
    static let nothing = 0.8
    /// When at least this share of the refusals beyond the expected ones is left, they have nothing to do with the rate.
    static let same = 0.4
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
    private var calls = 0
    private var refusals = 0

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
        if isSecond { refusedShare = former.share }
        self.begins = begins
        calls = 0
        refusals = 0
    }

    /// The share of refused calls since it began.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    /// Nothing is called until `moment`.
    mutating func wait(until moment: MonotonicTime) { begins = max(begins, moment) }

    mutating func count(refused: Bool) {
        calls += 1
        if refused { refusals += 1 }
    }

    func isOver(_ now: MonotonicTime) -> Bool {
        guard calls >= Self.fewest else { return false }
        let elapsed = now.milliseconds(since: begins)
        let enough = min(max(Self.telling / refusedShare, Self.enough.lowerBound), Self.enough.upperBound)
        return elapsed >= Self.longestMilliseconds || elapsed >= Self.shortestMilliseconds && Double(calls) >= enough
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
