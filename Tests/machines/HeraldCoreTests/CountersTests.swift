import HeraldCore
import HeraldEvents
import HeraldTime
import Testing

@Suite("An engine's counters")
struct CountersTests {
    @Test(
        "A duration is counted in the first bucket that reaches it, the bounds included",
        arguments: [
            (-1, 0), (0, 0), (1, 0), (999, 0), (1_000, 0), (1_001, 1), (2_500, 1), (2_501, 2), (5_000, 2), (9_999, 3),
            (10_001, 4), (10_000_000, 12), (10_000_001, 13), (600_000_000, 15), (600_000_001, 16), (Int64.max, 16),
        ] as [(Int64, Int)])
    func bucket(microseconds: Int64, bucket: Int) {
        var histogram = DurationHistogram.ofCalls
        histogram.observe(microseconds: microseconds)
        #expect(histogram.counts.firstIndex(of: 1) == bucket)
        #expect(histogram.count == 1 && histogram.sum == max(0, microseconds))
        #expect(histogram.counts.count == histogram.bounds.count + 1)
    }

    @Test("Every bound of every histogram has its own bucket, and sums add up")
    func bounds() {
        for empty in [DurationHistogram.ofCalls, .ofEvents] {
            var histogram = empty
            for bound in empty.bounds { histogram.observe(microseconds: bound) }
            #expect(histogram.counts == Array(repeating: 1, count: empty.bounds.count) + [0])
            var twice = histogram
            twice.add(histogram)
            #expect(twice.count == 2 * histogram.count && twice.sum == 2 * histogram.sum)
        }
    }

    @Test("An event counts for its request topic, a retry for its original topic")
    func requestTopics() {
        let harness = EngineHarness()
        func counts() -> [Int] {
            let histograms = harness.engine.counters.endToEnd
            return (0..<histograms.count).map { histograms[$0].count }
        }
        harness.event("a")
        harness.answer(200)
        harness.event("b", on: EngineHarness.bulk)
        harness.answer(200)
        #expect(counts() == [1, 1, 0])
        harness.record("no JSON", on: EngineHarness.bulk)
        #expect(counts() == [1, 2, 0])
        for (origin, expected) in [
            ("notifications.bulk/3/17", [1, 3, 0]), ("notifications/3/17", [2, 3, 0]),
            ("of-last-year/0/4", [2, 3, 1]), ("notifications.bul/0/4", [2, 3, 2]),
        ] {
            harness.event("c", on: EngineHarness.oneSecond, headers: [("herald-origin", origin)])
            harness.pass(.seconds(1))
            harness.answer(200)
            #expect(counts() == expected, "\(origin)")
        }
        // A record in a retry topic without an origin.
        harness.event("d", on: EngineHarness.oneSecond)
        harness.pass(.seconds(1))
        harness.answer(200)
        #expect(counts() == [2, 3, 3])
    }

    @Test("Outcomes are counted by push service, calls by how they ended, records by their reasons")
    func engine() {
        let harness = EngineHarness()
        harness.event("a", "apns,gcm")
        harness.answer(200)
        harness.answer(400)
        harness.record("no JSON")
        harness.event("b")
        harness.answer(429)
        harness.pass(.minutes(1))
        harness.answer(CallResult(failure: .timeout))
        let counters = harness.engine.counters
        #expect(counters.notifications(.delivered, service: 0) + counters.notifications(.delivered, service: 1) == 1)
        #expect(
            counters.notifications(.deadLettered, service: 0) + counters.notifications(.deadLettered, service: 1) == 1)
        #expect(counters.notifications(.deadLettered, service: nil) == 1)
        #expect(
            counters.calls(.answered(.delivered), service: 0) + counters.calls(.answered(.delivered), service: 1) == 1)
        #expect(
            counters.calls(.answered(.rejected), service: 0) + counters.calls(.answered(.rejected), service: 1) == 1)
        #expect(counters.deadLetters(.rejected) == 1 && counters.deadLetters(.malformed) == 1)
        #expect(counters.calls(.throttled, service: 0) == 1 && counters.calls(.unanswered(.timeout), service: 0) == 1)
        #expect(counters.retried == 1 && counters.retries(.transient) == 1 && counters.retries(nil) == 0)
        #expect((0..<counters.endToEnd.count).map { counters.endToEnd[$0].count } == [3, 0, 0])
    }
}
