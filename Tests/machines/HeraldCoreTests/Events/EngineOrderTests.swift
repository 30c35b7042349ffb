import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Taking and ordering")
struct EngineOrderTests {
    @Test("one user's events are called one after another, other users' at once")
    func key() {
        let harness = EngineHarness()
        for user in ["a", "a", "b", "a"] { harness.event(user) }
        #expect(harness.usersInFlight == ["a", "b"])
        harness.answer(200)
        #expect(harness.usersInFlight == ["b", "a"])
    }

    @Test("the next event of a user waits for quick retries, but not for a retry topic")
    func quickRetries() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("a")
        harness.answer(503)
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(300))
        #expect(harness.calls.count == 1)
        harness.answer(503)
        #expect(harness.usersInFlight == ["a"])
        #expect(harness.summaries == ["retry 1s apns transient 2"])
    }

    @Test("a partition's events are called one after another when that order is set")
    func partition() {
        let harness = EngineHarness { $0.ordering = .partition }
        for user in ["a", "b", "c"] { harness.event(user) }
        #expect(harness.usersInFlight == ["a"])
        harness.answer(503)
        #expect(harness.calls.isEmpty, "the others wait for its quick retry")
        harness.pass(.milliseconds(300))
        #expect(harness.usersInFlight == ["a"])
        harness.answer(200)
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("all events are called at once when no order is set")
    func none() {
        let harness = EngineHarness { $0.ordering = .none }
        for _ in 0..<3 { harness.event("a") }
        #expect(harness.usersInFlight == ["a", "a", "a"])
    }

    @Test("no more calls are in flight than allowed, and no records are taken meanwhile")
    func maxInFlight() {
        let harness = EngineHarness { $0.maxInFlight = 3 }
        for number in 0..<3 { harness.event("u\(number)") }
        let next = harness.engine.nextSource()
        #expect(next == nil)
        harness.event("late")
        #expect(harness.calls.count == 3)
        harness.answer(200)
        #expect(harness.usersInFlight == ["u1", "u2", "late"])
    }

    @Test("a record without room is refused and can be offered again")
    func noRoom() {
        let harness = EngineHarness { $0.maxInFlight = 1 }
        let room = harness.engine.configuration.maxBuffered
        for _ in 0..<room { harness.event("a") }
        let refused = harness.event("b")
        #expect(refused == .noRoom)
        harness.answer(200)
        harness.acknowledgeAll()
        let taken = harness.event("b")
        #expect(taken != .noRoom)
    }

    @Test("request topics are taken by weight")
    func weights() {
        let harness = EngineHarness()
        var taken: [Int: Int] = [:]
        harness.engine.exhausted(source: EngineHarness.oneSecond)
        harness.engine.exhausted(source: EngineHarness.tenSeconds)
        for _ in 0..<110 {
            if let source = harness.engine.nextSource() { taken[source, default: 0] += 1 }
        }
        #expect(taken == [EngineHarness.request: 100, EngineHarness.bulk: 10])
    }

    @Test("an empty topic is not asked again before a record arrives")
    func exhausted() {
        let harness = EngineHarness()
        for source in 0..<4 { harness.engine.exhausted(source: source) }
        let nothing = harness.engine.nextSource()
        #expect(nothing == nil)
        harness.engine.recordsArrived(in: 2)
        let something = harness.engine.nextSource()
        #expect(something == 2)
    }

    @Test("a retry is never early, and holds back only its own partition")
    func retryNotEarly() {
        let harness = EngineHarness()
        let due = harness.time + 1_000
        harness.event(
            "a", on: EngineHarness.oneSecond,
            headers: [
                ("herald-attempts", "2"), ("herald-not-before", "\(due)"), ("herald-origin", "notifications/0/7"),
            ])
        var sources: Set<Int> = []
        for _ in 0..<30 { if let source = harness.engine.nextSource() { sources.insert(source) } }
        #expect(sources == [EngineHarness.request, EngineHarness.bulk, EngineHarness.tenSeconds])
        harness.pass(.milliseconds(999))
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.calls.count == 1)
        for _ in 0..<30 { if let source = harness.engine.nextSource() { sources.insert(source) } }
        #expect(sources.contains(EngineHarness.oneSecond))
    }

    @Test("a retry topic is not fetched while its first record is far from due")
    func pause() {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .minutes(1)]) }
        harness.engine.unassigned(now: harness.now)
        harness.engine.assigned(
            [AssignedPartition(topic: 0, number: 0, startOffset: 0)],
            topics: [ConsumedTopic(name: "notifications.retry.60s", role: .retry(delay: .minutes(1)))], now: harness.now
        )
        harness.event("a", on: 0, headers: [("herald-not-before", "\(harness.time + 60_000)")])
        #expect(harness.takeOthers() == [.pause(partition: 0)])
        harness.pass(.seconds(58))
        #expect(harness.takeOthers() == [.resume(partition: 0)])
        #expect(harness.calls.isEmpty)
        harness.pass(.seconds(2))
        #expect(harness.calls.count == 1)
    }

    @Test(
        "an event before its notBefore goes to the longest delay that fits, and waits the rest in memory")
    func notBefore() {
        let harness = EngineHarness()
        // The harness's clock starts at 1970-01-12T13:46:40Z.
        harness.event("a", more: #","notBefore":"1970-01-12T13:46:51Z""#)
        #expect(harness.summaries == ["retry 10s apns not-before 0"])
        let headers = harness.headers(at: 0)
        harness.acknowledgeAll()
        harness.event(
            "a", on: EngineHarness.tenSeconds, more: #","notBefore":"1970-01-12T13:46:51Z""#,
            headers: headers.map { ($0.key, $0.value) })
        harness.pass(.seconds(10))
        #expect(harness.summaries == ["retry 1s apns kept 0"])
        let hop = harness.headers(at: 0)
        #expect(hop["herald-reason"] == "not-before")
        harness.acknowledgeAll()
        harness.event(
            "a", on: EngineHarness.oneSecond, more: #","notBefore":"1970-01-12T13:46:51Z""#,
            headers: hop.map { ($0.key, $0.value) })
        harness.pass(.milliseconds(999))
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.calls.count == 1)
    }

    @Test("a retry that a wrong clock has put years ahead waits no longer than the longest Retry-After")
    func clampedDueTime() {
        let harness = EngineHarness()
        let years = harness.time + 365 * 86_400_000
        harness.event("a", on: EngineHarness.tenSeconds, headers: [("herald-not-before", "\(years)")])
        harness.pass(.seconds(10))
        // It arrived 10 s ago, and is due an hour after that.
        let hop = harness.headers(at: 0)
        #expect(hop["herald-not-before"] == "\(harness.time - 10_000 + 3_600_000)")
        harness.acknowledgeAll()
        harness.time += 3_600_000 - 10_000
        harness.event("a", on: EngineHarness.tenSeconds, headers: hop.map { ($0.key, $0.value) })
        #expect(harness.calls.count == 1)
    }

    @Test("a wait below the shortest delay stays in memory, and the user's order is kept")
    func shortNotBefore() {
        let harness = EngineHarness()
        harness.event("a", more: #","notBefore":"1970-01-12T13:46:40.500Z""#)
        harness.event("a")
        #expect(harness.calls.isEmpty && harness.summaries.isEmpty)
        harness.pass(.milliseconds(500))
        #expect(harness.calls.count == 1)
    }

    @Test("an event that expires while it waits for its user is not called")
    func expiresWhileWaiting() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("a", more: #","expiresAt":"1970-01-12T13:46:41Z""#)
        harness.time += 2_000
        harness.answer(200)
        #expect(harness.calls.isEmpty)
        #expect(harness.summaries == ["result apns delivered", "result apns expired", "dead apns expired 0"])
    }

    @Test("a long chain of expired events needs no deep stack")
    func longChain() {
        let harness = EngineHarness {
            $0.maxInFlight = 20_000
            // In this order no event goes to a delay topic.
            $0.ordering = .partition
        }
        harness.event("a")
        for _ in 0..<20_000 { harness.event("a", more: #","expiresAt":"1970-01-12T13:46:41Z""#) }
        harness.time += 2_000
        harness.answer(200)
        #expect(harness.summaries.count == 1 + 2 * 20_000)
    }
}
