import HeraldCommandLine
import Testing

@Suite("The meter of a progress line")
struct ThroughputMeterTests {
    private static let start = ContinuousClock.now

    private static func meter(_ samples: [(seconds: Double, count: Int64)]) -> ThroughputMeter {
        var meter = ThroughputMeter()
        for sample in samples { meter.note(sample.count, at: start + .seconds(sample.seconds)) }
        return meter
    }

    @Test("No rate is shown in the first second, nor without progress")
    func unknown() {
        #expect(Self.meter([]).words(left: 5).isEmpty)
        #expect(Self.meter([(0, 0), (0.9, 500)]).words(left: 5).isEmpty)
        #expect(Self.meter([(0, 7), (5, 7)]).words(left: 5).isEmpty)
    }

    @Test("Rate and remaining time are those of the last seconds, and rounded")
    func words() {
        #expect(Self.meter([(0, 0), (2, 240)]).words(left: 0) == "  120/s")
        #expect(Self.meter([(0, 0), (2, 240)]).words(left: 1_200) == "  120/s  about 10s left")
        #expect(Self.meter([(0, 0), (4, 10)]).words(left: 1_000) == "  2.5/s  about 7m left")
        #expect(Self.meter([(0, 0), (10, 10)]).words(left: 10_000) == "  1.0/s  about 3h left")
    }

    @Test("Progress of long ago does not count")
    func window() {
        let samples = (0...100).map { (second: Int64) -> (seconds: Double, count: Int64) in
            (Double(second), second < 50 ? second * 1_000 : 50_000 + second)
        }
        #expect(Self.meter(samples).perSecond.map { abs($0 - 1) < 0.01 } == true)
    }
}
