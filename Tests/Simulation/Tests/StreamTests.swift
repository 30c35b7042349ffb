import Testing

@testable import Simulation

@Suite("Chance in the simulation")
struct StreamTests {
    @Test("a stream's numbers do not depend on other streams", arguments: [UInt64(0), 1, 77, .max])
    func independence(seed: UInt64) {
        var calm = Streams(seed: seed)
        var busy = Streams(seed: seed)
        for other in Stream.allCases where other != .crash {
            for _ in 0..<100 { _ = busy[other].bits() }
        }
        #expect((0..<100).map { _ in calm[.crash].bits() } == (0..<100).map { _ in busy[.crash].bits() })
    }

    @Test("a stream follows from its name and the seed, and not from its place among the others")
    func stability() {
        var streams = Streams(seed: 17)
        var crashes = Chance(seed: 17, for: "crash")
        var weather = Chance(seed: 17, for: "weather")
        #expect(streams[.crash].bits() == crashes.bits())
        #expect(streams[.weather].bits() == weather.bits())
        // Another number here makes every seed another run.
        var pinned = Chance(seed: 17, for: "crash")
        #expect(pinned.bits() == 0x9168_8DC8_C6E1_77AB)
    }

    @Test("no two streams of a seed, and no two seeds of a stream, have the same numbers")
    func difference() {
        var first: Set<UInt64> = []
        for seed in UInt64(0)..<20 {
            var streams = Streams(seed: seed)
            for stream in Stream.allCases { first.insert(streams[stream].bits()) }
        }
        #expect(first.count == 20 * Stream.allCases.count)
    }
}
