internal import HeraldTime

/// A bounded table of ``RateLimiter``s, one for each key; the time is a parameter.
struct RateTable<Key: Hashable & Sendable>: Sendable {
    private let unused: RateLimiter
    private let most: Int
    private var limiters: [Key: RateLimiter] = [:]

    /// - Parameter most: the maximum number of keys; beyond it new keys have to wait.
    init(perSecond: Double, burst: Double, most: Int = 10_000) {
        unused = RateLimiter(perSecond: perSecond, burst: burst)
        self.most = most
    }

    /// Whether the key may act now; does not count.
    func allows(_ key: Key, now: MonotonicTime) -> Bool { limiters[key].map { $0.opens <= now } ?? true }

    /// Whether the key may act once more now; counts it.
    mutating func take(_ key: Key, now: MonotonicTime) -> Bool {
        if limiters.count >= most, limiters[key] == nil {
            limiters = limiters.filter { !$0.value.isUnused(now: now) }
            guard limiters.count < most else { return false }
        }
        var limiter = limiters[key] ?? unused
        guard limiter.opens <= now else { return false }
        limiter.take(now: now)
        limiters[key] = limiter
        return true
    }
}
