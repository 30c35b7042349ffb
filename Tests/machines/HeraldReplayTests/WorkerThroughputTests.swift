import HeraldTime
import Testing

@testable import HeraldReplay

@Suite("The speed that workers have shown")
struct WorkerThroughputTests {
    private let now = WallTime(milliseconds: 1_800_000_000_000)

    /// Results from these times before now (milliseconds).
    private func busiest(_ ages: [Int64]) throws -> Double? {
        let times = ages.map { now.milliseconds - $0 }
        return try WorkerThroughput { moment in Int64(times.count { $0 < moment }) }.busiest(now: now)
    }

    @Test("The busiest minute of the busiest hour counts, whatever the other results")
    func busiest() throws {
        let burst = (0..<600).map { Int64(7_300_000 + $0) }
        let others = (0..<50).map { Int64(20_000_000 + $0 * 100_000) }
        #expect(try busiest(burst + others) == 10)
    }

    @Test("A few outcomes, no outcomes, or those of another day show no speed")
    func tooFew() throws {
        #expect(try busiest([]) == nil)
        #expect(try busiest((0..<99).map { Int64(7_300_000 + $0) }) == nil)
        #expect(try busiest((0..<600).map { Int64(90_000_000 + $0) }) == nil)
    }
}
