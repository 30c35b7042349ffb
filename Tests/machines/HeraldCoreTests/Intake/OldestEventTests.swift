import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The oldest event without a final outcome")
struct OldestEventTests {
    /// The ages of the oldest event of `notifications`, of `notifications.bulk`, and of other events.
    private func ages(_ harness: EngineHarness) -> [Int64?] {
        let now = harness.now
        return harness.engine.oldestEvents(now: now).map { $0.map { now.wall.time(since: $0).count } }
    }

    @Test("An event in memory has waited since it was published, until its outcome is durable")
    func inMemory() {
        let harness = EngineHarness()
        #expect(ages(harness) == [nil, nil, nil])
        harness.event("a")
        harness.pass(.milliseconds(300))
        harness.event("b", on: EngineHarness.bulk)
        harness.pass(.milliseconds(200))
        #expect(ages(harness) == [500, 200, nil])
        harness.answer(200)
        #expect(ages(harness) == [500, 200, nil], "its result is not durable")
        harness.acknowledgeAll()
        #expect(ages(harness) == [nil, 200, nil])
    }

    @Test(
        "An event whose time stamp is odd has waited since it was taken, in memory and in a delay topic",
        arguments: [0, 1_800_000_000, -30_000_000_000_000_000, .min, .max, Self.now - 400 * 86_400_000, -1])
    func odd(stamp: Int64) {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.time = Self.now
        harness.event("a", stamped: stamp)
        harness.pass(.milliseconds(300))
        #expect(ages(harness) == [300, nil, nil])
        harness.answer(503)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(500))
        #expect(ages(harness) == [800, nil, nil])
        // The record of a worker without this rule.
        let written = min(max(0, stamp), RFC3339.latest.milliseconds)
        harness.event(
            "b", on: EngineHarness.oneSecond,
            headers: [("herald-origin", "notifications.bulk/0/5"), ("herald-origin-timestamp", "\(written)")],
            stamped: Self.now)
        harness.pass(.seconds(1))
        harness.answer(200)
        let sums = (0..<3).map { harness.engine.counters.endToEnd[$0].sum }
        #expect(sums.allSatisfy { (0...2_000_000).contains($0) }, "\(sums)")
    }

    private static let now: Int64 = 1_795_828_941_000

    @Test("A retry has waited since its event was first published, whoever wrote it")
    func retry() {
        let harness = EngineHarness()
        harness.event(
            "a", on: EngineHarness.tenSeconds,
            headers: [
                ("herald-origin", "notifications.bulk/0/5"),
                ("herald-origin-timestamp", "\(harness.time - 3_600_000)"),
            ])
        #expect(ages(harness) == [nil, 3_600_000, nil])
    }

    @Test("An event in a delay topic counts while it is there, behind others or elsewhere")
    func delayed() {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.event("a")
        harness.pass(.milliseconds(400))
        harness.answer(503)
        harness.acknowledgeAll()
        #expect(harness.engine.load.events == 0)
        harness.pass(.milliseconds(500))
        #expect(ages(harness) == [900, nil, nil])
        // By then a worker has it in memory again.
        harness.pass(.milliseconds(500 + 17) + DelayedEvents.grace)
        #expect(ages(harness) == [nil, nil, nil])
    }

    @Test("Before its notBefore an event does not wait, and its age counts from then")
    func notBefore() {
        let harness = EngineHarness()
        // Half a second after the harness begins.
        harness.event("a", more: #","notBefore":"1970-01-12T13:46:40.500Z""#)
        harness.pass(.milliseconds(400))
        #expect(ages(harness) == [nil, nil, nil])
        harness.pass(.milliseconds(700))
        #expect(ages(harness) == [600, nil, nil])
    }

    @Suite("Events in delay topics")
    struct DelayedTests {
        private static let start = Int64(1_800_000_000_000)
        private func wall(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: Self.start + milliseconds) }
        private static let delays: [Milliseconds] = [.milliseconds(5), .seconds(1), .hours(2)]

        @Test("The oldest of each topic counts until its delay is over, and barely longer", arguments: delays.indices)
        func window(delay: Int) {
            let length = Self.delays[delay].count
            var delayed = DelayedEvents(delays: Self.delays, requestTopics: 1)
            delayed.note(delay: delay, due: wall(length), topic: 0, since: wall(-500), now: wall(0))
            delayed.note(delay: delay, due: wall(length), topic: 0, since: wall(-900), now: wall(0))
            delayed.note(delay: delay, due: wall(length), topic: 1, since: wall(-100), now: wall(0))
            let grace = DelayedEvents.grace.count
            for moment in [1, length / 2, length, length + grace - 1] {
                #expect(delayed.oldest(topic: 0, now: wall(moment)) == wall(-900))
                #expect(delayed.oldest(topic: 1, now: wall(moment)) == wall(-100))
            }
            let over = wall(length + length / 60 + grace + 1)
            #expect(delayed.oldest(topic: 0, now: over) == nil && delayed.oldest(topic: 1, now: over) == nil)
        }

        @Test("An older event is forgotten when it returns, a younger one that came later is not")
        func order() {
            var delayed = DelayedEvents(delays: Self.delays, requestTopics: 1)
            for second in 0..<10_000 {
                let now = Int64(second) * 1_000
                // Every tenth second an event that is an hour old.
                let since = second % 10 == 0 && second < 100 ? now - 3_600_000 : now
                delayed.note(
                    delay: 2, due: wall(now + 7_200_000), topic: 0, since: wall(since), now: wall(now))
                if second < 7_200 { #expect(delayed.oldest(topic: 0, now: wall(now)) == wall(-3_600_000)) }
            }
            let later = delayed.oldest(topic: 0, now: wall(9_999_000))
            #expect(later.map { (2_600_000...2_800_000).contains($0.milliseconds - Self.start) } == true)
        }

        @Test("A moment beyond the delay's end makes a hop: the event returns before")
        func hop() {
            var delayed = DelayedEvents(delays: Self.delays, requestTopics: 1)
            delayed.note(delay: 1, due: wall(86_400_000), topic: 0, since: wall(-5), now: wall(0))
            #expect(delayed.oldest(topic: 0, now: wall(900)) == wall(-5))
            #expect(delayed.oldest(topic: 0, now: wall(4_000)) == nil)
        }

        @Test("Events that have to wait beyond their return do not count")
        func notYet() {
            var delayed = DelayedEvents(delays: Self.delays, requestTopics: 1)
            delayed.note(delay: 1, due: wall(86_400_000), topic: 0, since: wall(86_400_000), now: wall(0))
            #expect(delayed.oldest(topic: 0, now: wall(500)) == nil)
        }
    }
}
