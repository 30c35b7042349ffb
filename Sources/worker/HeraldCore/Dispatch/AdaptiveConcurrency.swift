import HeraldTime

/// Finds how many calls in flight a backend bears, from the time that it takes for them.
///
/// As long as the median of half a second's calls is near what the backend takes unhurried, the limit grows: twofold with
/// each round at the beginning, and by a tenth each half second later. When it takes twice that, and a tenth of a second more,
/// the limit shrinks. A backend that stays slow with fewer calls is slow by itself: then that is how long it takes.
/// (After TCP Vegas and the gradient of Netflix's concurrency-limits; the median, because a few hanging users say nothing.)
struct AdaptiveConcurrency: Sendable, Equatable {
    /// The limit never gets lower.
    static let floor = 8
    /// Where it starts.
    static let start = 64
    static let windowMilliseconds: Int64 = 500
    /// A median so much above the unhurried one is no sign of too many calls.
    static let slackMilliseconds = 100.0
    static let shrink = 0.7
    /// A window with fewer answers says nothing.
    static let fewest = 10

    private var ceiling: Int
    private var exact: Double
    /// Below this the limit grows with each answer, as at the beginning.
    private var threshold = Double.infinity
    /// What the backend takes when it is not hurried (milliseconds).
    private var unhurried = Double.infinity
    /// The median that the limit was lowered for first, and how often it was since without getting better.
    private var slowMedian = 0.0
    private var lowered = 0

    /// Calls of this window by the logarithm of their milliseconds.
    private var buckets = [Int32](repeating: 0, count: 64)
    private var answers = 0
    private var windowEnds = MonotonicTime.distantPast
    /// Whether calls waited because of the limit in this window.
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

    /// A call ended after so many milliseconds: with an answer, or because there was none in time.
    mutating func ended(milliseconds: Int32, answered: Bool, now: MonotonicTime) {
        if answered, wasReached, lowered == 0, exact < threshold { exact = min(exact + 1, Double(ceiling)) }
        buckets[Self.bucket(milliseconds)] += 1
        answers += 1
        guard now >= windowEnds else { return }
        judge()
        windowEnds = now.advanced(byMilliseconds: Self.windowMilliseconds)
    }

    private mutating func judge() {
        defer {
            for index in buckets.indices { buckets[index] = 0 }
            answers = 0
            wasReached = false
        }
        guard answers >= Self.fewest else { return }
        let median = median
        unhurried = min(unhurried * 1.002, median)
        if median > max(2 * unhurried, unhurried + Self.slackMilliseconds) {
            if lowered == 0 {
                slowMedian = median
                threshold = exact * Self.shrink
            }
            lowered += 1
            if lowered > 3, median > 0.9 * slowMedian {
                unhurried = median
                lowered = 0
            } else {
                exact = max(Double(min(Self.floor, ceiling)), exact * Self.shrink)
            }
        } else {
            lowered = 0
            if wasReached { exact = min(exact + max(1, exact / 10), Double(ceiling)) }
        }
    }

    private var median: Double {
        var left = answers / 2
        for index in buckets.indices {
            left -= Int(buckets[index])
            if left < 0 { return Self.milliseconds(index) }
        }
        return 0
    }

    /// Four buckets for each power of two.
    private static func bucket(_ milliseconds: Int32) -> Int {
        guard milliseconds >= 4 else { return Int(max(milliseconds, 0)) }
        let power = 31 - milliseconds.leadingZeroBitCount
        return min(4 * (power - 1) + Int(milliseconds >> Int32(power - 2)) - 4, 63)
    }

    private static func milliseconds(_ bucket: Int) -> Double {
        bucket < 4 ? Double(bucket) : Double((4 + bucket % 4) << (bucket / 4 - 1))
    }
}
