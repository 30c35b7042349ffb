import HeraldBytes
import HeraldTelemetry
import Testing

@Suite("The sampling of traces")
struct TraceSamplerTests {
    private static func parent(_ isSampled: Bool) -> TraceContext {
        TraceContext(traceID: TraceID(high: 1, low: 1), spanID: 1, isSampled: isSampled)
    }

    @Test("The service that began the trace decides, whatever the share is", arguments: [0.0, 0.5, 1])
    func parentDecides(ratio: Double) {
        let sampler = TraceSampler(ratio: ratio)
        for low: UInt64 in [0, 1 << 55, .max] {
            #expect(sampler.records(TraceID(high: 1, low: low), parent: Self.parent(true)))
            #expect(!sampler.records(TraceID(high: 1, low: low), parent: Self.parent(false)))
        }
    }

    @Test("A share of 0 records none of the traces that begin here, a share of 1 all of them")
    func ends() {
        for low: UInt64 in [0, 1, 1 << 55, (1 << 56) - 1, .max] {
            #expect(!TraceSampler(ratio: 0).records(TraceID(high: 0, low: low), parent: nil))
            #expect(TraceSampler(ratio: 1).records(TraceID(high: 0, low: low), parent: nil))
        }
    }

    @Test("The last 56 bits of the id decide: the largest ones are recorded")
    func threshold() {
        let sampler = TraceSampler(ratio: 0.25)
        let edge: UInt64 = 3 << 54
        #expect(sampler.records(TraceID(high: 0, low: edge), parent: nil))
        #expect(!sampler.records(TraceID(high: .max, low: edge - 1), parent: nil))
        #expect(!sampler.records(TraceID(high: 0, low: 0xFF << 56 | edge - 1), parent: nil))
    }

    @Test("The recorded share of traces is the configured one")
    func share() {
        let sampler = TraceSampler(ratio: 0.1)
        var random = SplitMix64(seed: 7)
        let recorded = (0..<100_000).count { _ in
            sampler.records(TraceID(high: random.next(), low: random.next()), parent: nil)
        }
        #expect((9_500...10_500).contains(recorded))
    }
}
