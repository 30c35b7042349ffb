import HeraldTime
import Testing

@Suite("A limit per second")
struct RateLimiterTests {
    @Test("lets its number through, evenly, and no more after a pause", arguments: [3.0, 500, 20_000])
    func even(perSecond: Double) {
        var pace = RateLimiter(perSecond: perSecond)
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        func taken(in milliseconds: Int64) -> Int {
            var count = 0
            for _ in 0..<milliseconds * 4 {
                while pace.opens <= now {
                    pace.take(now: now)
                    count += 1
                }
                now = MonotonicTime(nanoseconds: now.nanoseconds + 250_000)
            }
            return count
        }
        let first = taken(in: 2_000)
        now = now.advanced(by: .minutes(1))
        let second = taken(in: 2_000)
        let most = 2 * perSecond + perSecond * 0.01 + 1
        #expect(Double(first) >= 2 * perSecond - 1 && Double(first) <= most)
        #expect(Double(second) >= 2 * perSecond - 1 && Double(second) <= most)
    }
    @Test(
        "lets a burst through after a pause, and gives the time for a number at once", arguments: [0.5, 3, 1_000])
    func burst(perSecond: Double) {
        var limiter = RateLimiter(perSecond: perSecond, burst: 5)
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        #expect(limiter.isUnused(now: now) && limiter.available(now: now) == 5)
        limiter.take(2, now: now)
        #expect(!limiter.isUnused(now: now) && limiter.available(now: now) == 3)
        #expect(limiter.opens(for: 3) <= now && limiter.opens(for: 4) > now)
        limiter.take(3, now: now)
        #expect(limiter.available(now: now) == 0 && limiter.opens > now)
        for count in 1...5 {
            let moment = limiter.opens(for: Double(count))
            #expect(limiter.available(now: moment) == count)
            #expect(limiter.available(now: MonotonicTime(nanoseconds: moment.nanoseconds - 1)) == count - 1)
        }
        limiter.leaveOne(now: now)
        #expect(limiter.available(now: now) == 1)
    }
}
