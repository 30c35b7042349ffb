import Testing

@testable import HeraldCore

@Suite("The budget of quick retries")
struct RetryBudgetTests {
    @Test("is spent by failures, and refilled by a tenth of the calls that do not fail")
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
