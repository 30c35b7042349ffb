internal import HeraldTime

/// How often each of many may do something: a ``RateLimiter`` each, with the time told, and bounded.
struct RateTable<Key: Hashable & Sendable>: Sendable {
    private let unused: RateLimiter
    private let most: Int
    private var limiters: [Key: RateLimiter] = [:]

    /// - Parameter most: so many are kept apart; when more come at once, the newcomers have to wait.
    init(perSecond: Double, burst: Double, most: Int = 10_000) {
        unused = RateLimiter(perSecond: perSecond, burst: burst)
        self.most = most
    }

    /// Whether there is anything against doing it now, which is not counted.
    func allows(_ key: Key, now: MonotonicTime) -> Bool { limiters[key].map { $0.opens <= now } ?? true }

    /// Whether it may be done once more now.
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
