import HeraldTime

/// Detects refusals beyond a share of the calls: a cumulative sum (Page's CUSUM), which looks back as far as needed,
/// however many calls there are.
struct RefusalSum: Sendable, Equatable {
    /// The number of refusals beyond the share.
    private(set) var sum = 0.0
    private(set) var calls = 0
    private var refusals = 0
    private var runs = 0
    private var wasRefused = false
    private var began = MonotonicTime.distantPast

    /// The shares of refusals at which the calls that get through throughout show a rate.
    static let mixed = 0.12...0.75
    static let telling = 16
    private static let shortest: Milliseconds = .milliseconds(30)
    private static let longest: Milliseconds = .milliseconds(1_200)

    var isEmpty: Bool { sum == 0 }

    /// The share of refused calls since the sum was 0.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    /// The number of calls that got through since the sum was 0.
    var passes: Int { calls - refusals }

    /// Whether calls get through throughout, and not all in a row, as before and after a second's end.
    func isMixed(_ now: MonotonicTime) -> Bool {
        Self.mixed.contains(share) && Self.areMixed(runs: runs, refusals, of: calls)
            && now.time(since: began) <= Self.longest
    }

    /// Whether refusals come in as many runs as by chance, or at least in half as many.
    static func areMixed(runs: Int, _ refusals: Int, of calls: Int) -> Bool {
        2 * runs * calls >= refusals * (calls - refusals)
    }

    /// The calls a second that got through since the sum was 0; `nil` when it is too soon to tell.
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

/// The share of calls refused for the events' own sake, and the excess that is evidence about the rate.
struct ExpectedRefusals: Sendable, Equatable {
    /// A real share of the calls.
    static let real = 0.1

    /// The share of calls refused at any rate.
    let share: Double
    /// The excess that concerns the push service.
    let crowd: Double
    let crowdBound: Double
    /// The excess at a limit that shows it to be slightly too high.
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
