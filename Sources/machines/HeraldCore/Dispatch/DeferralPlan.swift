import HeraldTime

/// The return times of deferred calls through the delay topics, chosen so that their push service always has some to
/// call.
///
/// A call is deferred by one whole delay: any other wait is a chain of hops. It gets the longest delay that ends before
/// the push service could run out of calls, so the backlog returns in time to be called or deferred once more. Its
/// return is counted by the second, not as a time, so that another rate leaves the plan valid.
struct DeferralPlan: Sendable {
    /// The longest deferral, unless even the shortest delay is longer: when the rate rises, the push service waits only
    /// for the latest deferrals.
    static let longest: Milliseconds = .minutes(30)
    /// The time by which a call returns before it is needed.
    static let margin: Milliseconds = .seconds(1)
    /// The multiple of a learned rate for which the plan is made.
    ///
    /// Such a rate is a guess, often too low when a backend counts by the minute, and it grows. A call that returns too
    /// early is deferred once more; one that returns too late leaves its push service without any.
    static let marginOfLearnedRate: Int64 = 2
    private static let second: Int64 = 1_000_000_000

    private let delays: [Milliseconds]
    /// The number of calls that return in each second, the current one at `current % counts.count`.
    private var counts: [Int32]
    private var current: Int64 = .min

    /// - Parameter delays: the delays, rising; at least one.
    init(delays: [Milliseconds]) {
        let usable = delays.filter { $0 <= Self.longest }
        self.delays = usable.isEmpty ? [delays[0]] : usable
        counts = Array(repeating: 0, count: Int((self.delays.last ?? .zero).wholeSeconds) + 2)
    }

    /// The index of the delay by which one more call is deferred.
    ///
    /// - Parameters:
    ///   - queued: the number of calls that wait in memory.
    ///   - interval: the time between two calls (nanoseconds).
    ///   - opens: the time at which the next one may be made.
    mutating func deferCall(queued: Int, interval: Int64, opens: MonotonicTime, now: MonotonicTime) -> Int {
        move(to: now.nanoseconds / Self.second)
        var busyUntil = max(opens, now).nanoseconds
        func work(_ calls: Int) -> Int64 { Int64(min(Double(calls) * Double(interval), 1e18)) }
        busyUntil += work(queued)
        let enough = now.advanced(by: (delays.last ?? .zero) + Self.margin).nanoseconds
        // Calls planned for this second have returned already, or do so at any moment.
        var second = current + 1
        var place = self.place(second)
        let (count, end) = (counts.count, current + Int64(counts.count))
        while busyUntil < enough, (second - 1) * Self.second <= busyUntil, second < end {
            let calls = counts[place]
            if calls > 0 { busyUntil += work(Int(calls)) }
            place = place + 1 == count ? 0 : place + 1
            second += 1
        }
        let busyFor = Milliseconds.milliseconds((busyUntil - now.nanoseconds) / 1_000_000) - Self.margin
        let index = delays.lastIndex { $0 <= busyFor } ?? 0
        counts[self.place(now.advanced(by: delays[index]).nanoseconds / Self.second)] += 1
        return index
    }

    private func place(_ second: Int64) -> Int { Int(second % Int64(counts.count)) }

    private mutating func move(to second: Int64) {
        guard second > current else { return }
        let first = max(current, second - Int64(counts.count), 0)
        for past in first..<second { counts[place(past)] = 0 }
        current = second
    }
}
