/// Tells when refusals are more than a share of the calls: a cumulative sum (Page's CUSUM), which looks back as far as it has
/// to, however many calls there are.
struct RefusalSum: Sendable, Equatable {
    /// How many refusals there were beyond the share.
    private(set) var sum = 0.0
    private var calls = 0
    private var refusals = 0

    var isEmpty: Bool { sum == 0 }

    /// The share of refused calls since the sum was 0.
    var share: Double { Double(refusals) / Double(max(calls, 1)) }

    mutating func passed(allowing share: Double) {
        guard sum > 0 else { return }
        calls += 1
        sum -= share
        if sum <= 0 { self = Self() }
    }

    mutating func refused(allowing share: Double) {
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
