import HeraldTime

/// Finds how many calls a second a backend bears, from its refusals to take more (429, 503).
///
/// There is no limit before the first refusal. Then it is a little less than what got through, and stays there for a while;
/// after that it grows, at first hardly and then faster and faster, until the next refusal: the shape of TCP's CUBIC
/// (RFC 9438), for a rate instead of a window. What got through in a second is known better than how much more would
/// have, so it is what counts, and not a fraction of the former limit.
struct AdaptiveRate: Sendable, Equatable {
    /// The limit after a refusal, as a share of what got through.
    static let retreat = 0.97
    /// When so large a share of a second's calls is refused, what got through before that was borrowed (a bucket of tokens):
    /// only the last second counts.
    static let flood = 0.05
    /// No limit is lower (calls a second), and the first one after so few calls not lower than ``start``.
    static let floor = 1.0
    static let start = 10.0
    static let fewest = 50.0
    /// After a refusal the limit stays for this long (milliseconds) at first, and for twice as long each time that the
    /// next one comes at about the same rate.
    static let firstRest: Int64 = 10_000
    static let longestRest: Int64 = 60_000
    /// A limit that met no refusal for so long (milliseconds) is forgotten.
    static let forgottenAfter: Int64 = 600_000
    /// What was sent before the last decrease says nothing about it; the next one is this much later (milliseconds).
    static let epoch: Int64 = 1_000

    /// Calls a second; `nil` when nothing was ever refused.
    private(set) var limit: Double?

    private var through = SecondCount()
    private var refused = SecondCount()
    private var firstAnswer: MonotonicTime?
    private var loweredAt = MonotonicTime(nanoseconds: .min)
    /// Sending began, or began again after a pause.
    private var resumedAt = MonotonicTime(nanoseconds: .min)
    /// What got through when the limit was lowered.
    private var borne = 0.0
    private var rest = Self.firstRest
    private var grownAt = MonotonicTime(nanoseconds: .min)
    /// Whether calls waited because of the limit since it grew last.
    private var wasReached = false
    /// Too little is known to stay anywhere: the limit doubles every second.
    private var isSearching = false

    /// A call was answered, and not refused.
    mutating func passed(now: MonotonicTime) {
        if firstAnswer == nil { firstAnswer = now }
        through.add(now)
    }

    /// The backend refused a call because it can't take more.
    ///
    /// - Parameter sentAt: when the call began.
    mutating func refusedCall(sentAt: MonotonicTime, now: MonotonicTime) {
        if firstAnswer == nil { firstAnswer = now }
        guard limit == nil || sentAt >= loweredAt else { return }
        refused.add(now)
        isSearching = false
        guard limit == nil || now >= loweredAt.advanced(byMilliseconds: Self.epoch) else { return }
        lower(now)
    }

    /// Sending to this push service pauses until `moment`: what gets through meanwhile says nothing.
    mutating func pause(until moment: MonotonicTime) {
        resumedAt = max(resumedAt, moment)
    }

    /// A call waited because of the limit.
    mutating func reached() { wasReached = true }

    /// Lets the limit grow when it is time; true when it changed.
    mutating func grow(now: MonotonicTime) -> Bool {
        guard let limit else { return false }
        let quiet = (now.nanoseconds - loweredAt.nanoseconds) / 1_000_000
        if quiet > Self.forgottenAfter {
            self.limit = nil
            rest = Self.firstRest
            return true
        }
        let elapsed = min(now.nanoseconds - grownAt.nanoseconds, 1_000_000_000)
        guard elapsed >= 50_000_000 else { return false }
        grownAt = now
        guard wasReached, isSearching || quiet > rest else { return false }
        wasReached = false
        self.limit = limit * (1 + speed(at: limit) * Double(elapsed) / 1e9)
        return true
    }

    /// By which share the limit grows in a second: by hardly anything where refusals are expected, because a backend that
    /// allows bursts shows late that it was too much, and faster the farther that is behind.
    private func speed(at limit: Double) -> Double {
        if isSearching { return 1 }
        return min(max(0.01, (limit / borne - 1) / 4), 1)
    }

    private mutating func lower(_ now: MonotonicTime) {
        let refusals = refused.latest(now)
        let isFlood = limit != nil && refusals > Self.flood * (refusals + through.latest(now))
        let isEarly = now < (firstAnswer ?? now).advanced(byMilliseconds: 1_000)
        if let limit, now < resumedAt.advanced(byMilliseconds: 3_000) {
            // The last seconds were in part a pause, in which a backend that allows bursts has saved up for one.
            borne = max(through.average(now), 0.9 * limit, Self.floor)
            self.limit = max(Self.floor, Self.retreat * borne)
            rest = Self.firstRest
            isSearching = false
        } else {
            // While the limit grew, the last second says too little, and its last part more.
            let most = limit == nil ? through.most(now) : max(through.most(now), through.recent(now))
            let rate = isFlood ? through.latest(now) : most
            rest = abs(rate - borne) < 0.1 * borne ? min(rest * 2, Self.longestRest) : Self.firstRest
            // One refusal among few calls says hardly anything about the rate.
            isSearching = limit == nil && (isEarly || rate < Self.fewest)
            borne = max(rate, isSearching ? Self.start : Self.floor)
            limit = Self.retreat * borne
        }
        loweredAt = now
        grownAt = now
        wasReached = false
    }
}

/// Counts in tenths of seconds, for the last three seconds.
struct SecondCount: Sendable, Equatable {
    static let tenth: Int64 = 100_000_000
    private static let length = 32

    private var counts = [Int32](repeating: 0, count: Self.length)
    /// The number of the tenth that is being filled, and when it ends.
    private var current: Int64 = 0
    private var currentEnds: Int64 = 0

    mutating func add(_ now: MonotonicTime) {
        if now.nanoseconds >= currentEnds { move(to: now.nanoseconds / Self.tenth) }
        counts[Int(current) & (Self.length - 1)] += 1
    }

    /// How many there were in the last second.
    mutating func latest(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        // The tenth that is being filled counts only if it helps.
        return Double(max(sum(endingAt: current), sum(endingAt: current - 1)))
    }

    /// How many there were a second in the last three full tenths.
    mutating func recent(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        let sum = (current - 3..<current).reduce(0) { $0 + counts[Int($1) & (Self.length - 1)] }
        return Double(sum) / 0.3
    }

    /// How many there were a second in the last three.
    mutating func average(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        return Double(sum(endingAt: current) + sum(endingAt: current - 10) + sum(endingAt: current - 20)) / 3
    }

    /// How many there were in the fullest second of the last three.
    mutating func most(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        return Double((current - 20...current).map { sum(endingAt: $0) }.max() ?? 0)
    }

    private func sum(endingAt end: Int64) -> Int32 {
        var sum: Int32 = 0
        for tenth in end - 9...end { sum += counts[Int(tenth) & (Self.length - 1)] }
        return sum
    }

    private mutating func move(to tenth: Int64) {
        guard tenth > current else { return }
        for missed in max(current + 1, tenth - Int64(Self.length) + 1)...tenth {
            counts[Int(missed) & (Self.length - 1)] = 0
        }
        current = tenth
        currentEnds = (tenth + 1) * Self.tenth
    }
}
