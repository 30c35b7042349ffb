import HeraldTime

/// The durations of calls that began in a row while about as many others were in flight.
///
/// A round is over when three quarters of its calls have ended. Calls grouped by their ends would begin with the
/// quickest ones.
struct CallRound: Sendable, Equatable {
    /// The shortest time in which a round takes calls; ``fewest`` is the least number of them.
    static let window: Milliseconds = .milliseconds(500)
    static let fewest = 20

    /// The numbers of its first and its last call; the last is `.max` while it takes calls.
    private var first: UInt64 = 1
    private var last = UInt64.max
    private var takesUntil = MonotonicTime.distantPast
    /// Its calls by the logarithm of their durations in milliseconds.
    private var buckets = [Int32](repeating: 0, count: 64)
    private var measured = 0
    private var unmeasured = 0
    /// The sum of the calls in flight at each end of a call while it took calls.
    private var inFlightSum = 0
    private var inFlightCount = 0
    /// The largest number of calls in flight.
    private(set) var mostInFlight = 0

    /// Starts a new round after the latest call.
    mutating func restart(after latest: UInt64, now: MonotonicTime) {
        first = latest + 1
        last = .max
        takesUntil = now.advanced(by: Self.window)
        for index in buckets.indices { buckets[index] = 0 }
        measured = 0
        unmeasured = 0
        inFlightSum = 0
        inFlightCount = 0
        mostInFlight = 0
    }

    /// Notes the end of a call.
    ///
    /// - Parameters:
    ///   - duration: the call's duration; `nil` when it is no evidence.
    ///   - inFlight: the number of calls in flight, this one included.
    ///   - latest: the number of the call that began last.
    /// - Returns: Whether the round is over.
    mutating func ended(
        _ number: UInt64, duration: Milliseconds?, inFlight: Int, latest: UInt64, now: MonotonicTime
    ) -> Bool {
        mostInFlight = max(mostInFlight, inFlight)
        if number >= first, number <= last {
            if let duration {
                buckets[Self.bucket(Int32(clamping: duration))] += 1
                measured += 1
            } else {
                unmeasured += 1
            }
        }
        if last == .max {
            inFlightSum += inFlight
            inFlightCount += 1
            guard now >= takesUntil, latest >= first + UInt64(Self.fewest - 1) else { return false }
            last = latest
        }
        return 4 * (measured + unmeasured) >= 3 * count
    }

    /// The number of its calls, once it takes no more.
    private var count: Int { Int(last - first) + 1 }

    /// The average number of calls in flight when its calls began.
    var inFlight: Double { Double(inFlightSum) / Double(max(inFlightCount, 1)) }

    /// The duration of a typical call (milliseconds): the mean of the middle half; `nil` when hardly any call is
    /// evidence.
    ///
    /// Calls that have not ended are slower than those that have. Hanging calls, which are no evidence, are slow too:
    /// then the remaining ones are the quickest.
    var typical: Double? {
        guard 4 * measured >= count else { return nil }
        let all = count - unmeasured
        let low = min(all / 4, measured - 1)
        let high = max(min(all - low, measured), low + 1)
        var below = 0
        var sum = 0.0
        for index in buckets.indices {
            let end = below + Int(buckets[index])
            sum += Double(max(0, min(end, high) - max(below, low))) * Self.milliseconds(index)
            below = end
        }
        return sum / Double(high - low)
    }

    /// Four buckets for each power of two.
    private static func bucket(_ milliseconds: Int32) -> Int {
        guard milliseconds >= 4 else { return Int(max(milliseconds, 0)) }
        let power = 31 - milliseconds.leadingZeroBitCount
        return min(4 * (power - 1) + Int(milliseconds >> Int32(power - 2)) - 4, 63)
    }

    /// The middle of a bucket.
    private static func milliseconds(_ bucket: Int) -> Double {
        bucket < 4 ? Double(bucket) : (Double(4 + bucket % 4) + 0.5) * Double(1 << (bucket / 4 - 1))
    }
}
