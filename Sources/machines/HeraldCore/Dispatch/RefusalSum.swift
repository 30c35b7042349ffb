import HeraldTime

/// Tells when refusals are more than a share of the calls: a cumulative sum (Page's CUSUM), which looks back as far as it has
/// to, however many calls there are.
struct RefusalSum: Sendable, Equatable {
    /// How many refusals there were beyond the share.
    private(set) var sum = 0.0
    private(set) var calls = 0
    private var refusals = 0
    private var runs = 0
    private var wasRefused = false
    private var began = MonotonicTime.distantPast

    /// Shares of refusals among calls that get through all the while: what gets through meanwhile is a rate, when it is so many.
    static let mixed = 0.12...0.75
    static let telling = 16
    private static let shortest: Milliseconds = .milliseconds(30)
    private static let longest: Milliseconds = .milliseconds(1_200)

    var isEmpty: Bool { sum == 0 }

    /// The share of refused calls since the sum was 0.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    /// How many got through since the sum was 0.
    var passes: Int { calls - refusals }

    /// Whether calls get through all the while: not one behind the other, as before and after a second's end.
    func isMixed(_ now: MonotonicTime) -> Bool {
        Self.mixed.contains(share) && Self.areMixed(runs: runs, refusals, of: calls)
            && now.time(since: began) <= Self.longest
    }

    /// Whether refusals come in as many runs as by chance, or at least in half as many.
    static func areMixed(runs: Int, _ refusals: Int, of calls: Int) -> Bool {
        2 * runs * calls >= refusals * (calls - refusals)
    }

    /// How many got through in a second since the sum was 0; `nil` when it is too soon to say.
    func rate(_ now: MonotonicTime) -> Double? {
        let elapsed = now.time(since: began)
        guard passes >= Self.telling, elapsed >= Self.shortest else { return nil }
        return Double(passes) * 1_000 / Double(elapsed.count)
    }

    mutating func passed(allowing share: Double) {
        guard sum > 0 else { return }
        calls += 1
        wasRefused = false
        sum -= share
        if sum <= 0 { self = Self() }
    }

    mutating func refused(allowing share: Double, _ now: MonotonicTime) {
        if calls == 0 { began = now }
        if !wasRefused { runs += 1 }
        wasRefused = true
        calls += 1
        refusals += 1
        sum += 1 - share
    }
}

/// How many refusals there are whatever the rate, for the events' own sake, and how many more say something about it.
struct ExpectedRefusals: Sendable, Equatable {
    /// A real share of the calls.
    static let real = 0.1

    /// The share of the calls that is refused whatever the rate.
    let share: Double
    /// So many refusals beyond this share speak for the push service.
    let crowd: Double
    let crowdBound: Double
    /// At a limit so many beyond this share say that it is a little too high.
    let edge: Double
    let edgeBound: Double

    init(share: Double) {
        self.share = share
        crowd = share + max((1 - share) * Self.real, (1 - share) * share / 2)
        crowdBound = 10 + 50 * share
        edge = share + max(0.005, share / 2)
        edgeBound = min(3 + 500 * share, 12)
    }
}
