import HeraldTime
import Testing

@testable import HeraldConsole
@testable import HeraldTools

@Suite("From publication to outcome")
struct LatencyQuantileTests {
    @Test(
        "the seconds are the bound of the bucket in which the share lies",
        arguments: [
            (0.5, [:], nil), (0.5, [1: 0, .infinity: 0], nil),
            (0.5, [1: 10, 2: 10, .infinity: 10], 1), (0.5, [1: 0, 2: 10, .infinity: 10], 2),
            (0.99, [1: 50, 2: 100, .infinity: 100], 2),
            // Five minutes, in the bucket up to half an hour.
            (0.99, [60: 50, 1_800: 100, .infinity: 100], 1_800),
            // Longer than the largest bound: at least that.
            (0.99, [1: 50, 2: 60, .infinity: 100], 2),
            // A count that is smaller than the one before it.
            (0.9, [1: 80, 2: 70, 3: 100, .infinity: 100], 3),
        ] as [(Double, [Double: Double], Double?)])
    func quantile(_ share: Double, _ counts: [Double: Double], _ seconds: Double?) {
        let found = LatencyQuantile.seconds(share, of: counts)
        #expect(found.map { ($0 * 1_000).rounded() } == seconds.map { ($0 * 1_000).rounded() })
    }

    @Test("is the growth of the workers' histograms, from one look to the next")
    func growth() {
        func status(_ fast: Double, _ all: Double) -> WorkerStatus {
            var status = WorkerStatus()
            status.endToEnd = [.init(withinSeconds: 0.5, count: fast), .init(withinSeconds: nil, count: all)]
            return status
        }
        var meter = RateMeter()
        _ = meter.add(["w": (at: .init(nanoseconds: 0), status: status(10, 20))])
        let rates = meter.add(["w": (at: .init(nanoseconds: 2_000_000_000), status: status(12, 60))])
        #expect(rates.endToEnd == [0.5: 2, .infinity: 40])
    }
}
