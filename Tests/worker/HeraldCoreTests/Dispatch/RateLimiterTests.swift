import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A limit of calls a second")
struct RateLimiterTests {
    @Test("lets as many through as it says, evenly, and no more after a pause", arguments: [3.0, 500, 20_000])
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
        now = now.advanced(byMilliseconds: 60_000)
        let second = taken(in: 2_000)
        let most = 2 * perSecond + perSecond * 0.01 + 1
        #expect(Double(first) >= 2 * perSecond - 1 && Double(first) <= most)
        #expect(Double(second) >= 2 * perSecond - 1 && Double(second) <= most)
    }
}

@Suite("The budget of quick retries")
struct RetryBudgetTests {
    @Test("is spent by failures, and given back by a tenth of the calls that do not fail")
    func budget() {
        var budget = RetryBudget()
        for _ in 0..<499 { budget.failed() }
        #expect(budget.allowsRetry)
        budget.failed()
        #expect(!budget.allowsRetry)
        for _ in 0..<10 { budget.failed() }
        for _ in 0..<99 { budget.succeeded() }
        #expect(!budget.allowsRetry)
        for _ in 0..<3 { budget.succeeded() }
        #expect(budget.allowsRetry)
    }
}
