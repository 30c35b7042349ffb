import HeraldTime
import Testing

@testable import HeraldReplay

@Suite("How fast workers have shown that they are")
struct WorkerThroughputTests {
    private let now = WallTime(milliseconds: 1_800_000_000_000)

    /// Results that came at these times before now (milliseconds).
    private func busiest(_ ages: [Int64]) throws -> Double? {
        let times = ages.map { now.milliseconds - $0 }
        return try WorkerThroughput { moment in Int64(times.count { $0 < moment }) }.busiest(now: now)
    }

    @Test("The busiest minute of the busiest hour counts, whatever else there was")
    func busiest() throws {
        let burst = (0..<600).map { Int64(7_300_000 + $0) }
        let others = (0..<50).map { Int64(20_000_000 + $0 * 100_000) }
        #expect(try busiest(burst + others) == 10)
    }

    @Test("A few outcomes, none, or those of another day say nothing")
    func tooFew() throws {
        #expect(try busiest([]) == nil)
        #expect(try busiest((0..<99).map { Int64(7_300_000 + $0) }) == nil)
        #expect(try busiest((0..<600).map { Int64(90_000_000 + $0) }) == nil)
    }
}
