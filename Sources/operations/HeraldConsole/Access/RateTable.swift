internal import HeraldTime

/// How often each of many may do something (token buckets): pure, with the time told, and bounded.
struct RateTable<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: MonotonicTime
    }

    private let perSecond: Double
    private let burst: Double
    private let most: Int
    private var buckets: [Key: Bucket] = [:]

    /// - Parameter most: so many are kept apart; when more come at once, the newcomers have to wait.
    init(perSecond: Double, burst: Double, most: Int = 10_000) {
        self.perSecond = perSecond
        self.burst = burst
        self.most = most
    }

    /// Whether it may be done once more now.
    mutating func take(_ key: Key, now: MonotonicTime) -> Bool {
        if buckets.count >= most, buckets[key] == nil {
            buckets = buckets.filter { filled($0.value, now) < burst }
            guard buckets.count < most else { return false }
        }
        var bucket = buckets[key] ?? Bucket(tokens: burst, at: now)
        bucket = Bucket(tokens: filled(bucket, now), at: now)
        guard bucket.tokens >= 1 else {
            buckets[key] = bucket
            return false
        }
        bucket.tokens -= 1
        buckets[key] = bucket
        return true
    }

    private func filled(_ bucket: Bucket, _ now: MonotonicTime) -> Double {
        min(burst, bucket.tokens + Double(max(0, now.milliseconds(since: bucket.at))) / 1_000 * perSecond)
    }
}
