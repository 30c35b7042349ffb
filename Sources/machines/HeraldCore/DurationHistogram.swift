/// A histogram of durations: a count for each bucket, and the sum.
///
/// It belongs to one thread; an observation is an index, two additions and no allocation. Durations beyond the last
/// bound go into the last bucket.
public struct DurationHistogram: Sendable, Equatable {
    /// The longest duration of each bucket but the last, in microseconds, rising.
    public let bounds: [Int64]
    /// The number of observations in each bucket; one more than there are bounds.
    public private(set) var counts: [Int]
    /// The sum of all durations in microseconds.
    public private(set) var sum: Int64 = 0
    /// For each number of binary digits of a duration, the first bucket that it may belong to.
    private let firstBuckets: [UInt8]

    /// An empty histogram with these bounds in milliseconds.
    public init(milliseconds bounds: [Double]) {
        let bounds = bounds.map { Int64($0 * 1_000) }
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
        firstBuckets = (0...64).map { digits in
            let shortest = digits == 0 ? 0 : UInt64(1) << UInt64(digits - 1)
            return UInt8(clamping: bounds.firstIndex { UInt64($0) >= shortest } ?? bounds.count)
        }
    }

    /// From a millisecond to ten minutes, the longest that a call may be given.
    public static let ofCalls = Self(milliseconds: [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 600_000,
    ])

    /// From five milliseconds to a day, which retries may take.
    public static let ofEvents = Self(milliseconds: [
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000,
        43_200_000, 86_400_000,
    ])

    /// Counts one duration; a negative one counts as zero.
    public mutating func observe(microseconds: Int64) {
        let duration = max(0, microseconds)
        counts[bucket(of: duration)] += 1
        sum &+= duration
    }

    /// The bucket of a duration that is not negative (microseconds).
    @inline(__always)
    fileprivate func bucket(of duration: Int64) -> Int {
        var bucket = Int(firstBuckets[64 - duration.leadingZeroBitCount])
        while bucket < bounds.count, duration > bounds[bucket] { bucket += 1 }
        return bucket
    }

    /// Adds the counts of another histogram with the same bounds.
    public mutating func add(_ other: Self) {
        for index in counts.indices where index < other.counts.count { counts[index] += other.counts[index] }
        sum &+= other.sum
    }

    /// The number of observations.
    public var count: Int { counts.reduce(0, +) }

    /// A histogram with the same bounds and these counts.
    fileprivate func with(counts: [Int], sum: Int64) -> Self {
        var other = self
        other.counts = counts
        other.sum = sum
        return other
    }
}

/// Histograms with the same bounds, by their places.
///
/// An observation costs as much as that of one histogram: buckets and sums lie in one array.
public struct DurationHistograms: Sendable, Equatable {
    private let empty: DurationHistogram
    /// The number of histograms.
    public let count: Int
    /// By place: the count of each bucket, and then the sum of the durations.
    private var cells: [Int64]
    private let width: Int

    /// This many empty histograms.
    init(repeating empty: DurationHistogram, count: Int) {
        self.empty = empty
        self.count = count
        width = empty.counts.count + 1
        cells = Array(repeating: 0, count: count * width)
    }

    /// The histogram at a place.
    public subscript(place: Int) -> DurationHistogram {
        let own = cells[place * width..<(place + 1) * width]
        return empty.with(counts: own.dropLast().map { Int($0) }, sum: own.last ?? 0)
    }

    /// Counts one duration; a negative one counts as zero.
    mutating func observe(microseconds: Int64, at place: Int) {
        let duration = max(0, microseconds)
        cells[place * width + empty.bucket(of: duration)] += 1
        cells[(place + 1) * width - 1] &+= duration
    }
}
