import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("From publication to outcome")
struct LatencyQuantileTests {
    @Test(
        "the seconds are those of the bucket that contains the share, in proportion",
        arguments: [
            (0.5, [:], nil), (0.5, [1: 0, .infinity: 0], nil),
            (0.5, [1: 10, 2: 10, .infinity: 10], 0.5), (0.5, [1: 0, 2: 10, .infinity: 10], 1.5),
            (0.99, [1: 50, 2: 100, .infinity: 100], 1.98),
            // Longer than the largest bound: at least that.
            (0.99, [1: 50, 2: 60, .infinity: 100], 2),
            // A count that is smaller than the one before it.
            (0.9, [1: 80, 2: 70, 3: 100, .infinity: 100], 2.5),
        ] as [(Double, [Double: Double], Double?)])
    func quantile(_ share: Double, _ counts: [Double: Double], _ seconds: Double?) {
        let found = LatencyQuantile.seconds(share, of: counts)
        #expect(found.map { ($0 * 1_000).rounded() } == seconds.map { ($0 * 1_000).rounded() })
    }

    @Test("is the growth of the workers' histograms, of all topics together, between two looks")
    func growth() throws {
        func numbers(_ fast: Int, _ all: Int) throws -> WorkerNumbers {
            let text = """
                herald_end_to_end_seconds_bucket{topic="a",le="0.5"} \(fast)
                herald_end_to_end_seconds_bucket{topic="a",le="+Inf"} \(all)
                herald_end_to_end_seconds_bucket{topic="b",le="0.5"} \(fast)
                herald_end_to_end_seconds_bucket{topic="b",le="+Inf"} \(all)
                herald_end_to_end_seconds_sum{topic="a"} 7
                """
            return try #require(WorkerNumbers(Array(text.utf8)))
        }
        var meter = RateMeter()
        _ = meter.add(["w": (at: .init(nanoseconds: 0), numbers: try numbers(5, 10))])
        let rates = meter.add(["w": (at: .init(nanoseconds: 2_000_000_000), numbers: try numbers(6, 30))])
        #expect(rates.endToEnd == [0.5: 2, .infinity: 40])
    }
}
