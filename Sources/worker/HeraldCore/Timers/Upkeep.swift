import HeraldTime

/// What is looked at now and then while there are partitions.
struct Upkeep: Sendable {
    /// Events that block others are looked for this often (milliseconds).
    static let sweepInterval: Int64 = 1_000
    /// Records that stay are looked for this often (milliseconds).
    static let copyInterval: Int64 = 250

    private var nextSweep = MonotonicTime(nanoseconds: .min)
    private var nextCopy = MonotonicTime(nanoseconds: .min)

    /// When there is something to look at next.
    var next: MonotonicTime { min(nextSweep, nextCopy) }

    /// Whether to look for what holds up others, which the next look is an interval after.
    mutating func sweeps(now: MonotonicTime) -> Bool {
        guard now >= nextSweep else { return false }
        nextSweep = now.advanced(byMilliseconds: Self.sweepInterval)
        return true
    }

    /// The same for records that stay.
    mutating func copies(now: MonotonicTime) -> Bool {
        guard now >= nextCopy else { return false }
        nextCopy = now.advanced(byMilliseconds: Self.copyInterval)
        return true
    }
}
