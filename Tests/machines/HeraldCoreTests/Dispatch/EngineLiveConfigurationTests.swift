import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Settings that change while the engine works")
struct EngineLiveConfigurationTests {
    @Test("a higher limit of calls in flight is used at once, even beyond the present slots")
    func moreInFlight() {
        let harness = EngineHarness { $0.maxInFlight = 2 }
        let capacity = harness.engine.capacity
        for number in 0..<20 { harness.event("u\(number)") }
        #expect(harness.calls.count == 2)
        harness.use { $0.maxInFlight = 400 }
        #expect(harness.engine.capacity > capacity)
        // The limit that the calls' durations gave grows from its value: by one with each answer.
        for _ in 0..<2 { harness.answer(200) }
        #expect(harness.calls.count > 2)
        while !harness.calls.isEmpty { harness.answer(200) }
        for number in 0..<capacity + 100 { harness.event("v\(number)") }
        while !harness.calls.isEmpty { harness.answer(200) }
        harness.acknowledgeAll()
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("events of one user stay in order while the table of users grows")
    func orderWhileGrowing() {
        let harness = EngineHarness { $0.maxInFlight = 1 }
        for number in 0..<3 { for user in 0..<20 { harness.event("u\(user)", more: #","source":"\#(number)""#) } }
        harness.use { $0.maxInFlight = 2_000 }
        var seen: [String: Int] = [:]
        while !harness.calls.isEmpty {
            seen[harness.user(harness.calls[0]), default: 0] += 1
            #expect(Set(harness.usersInFlight).count == harness.calls.count, "two of one user at once")
            harness.answer(200)
        }
        #expect(seen.count == 20 && seen.values.allSatisfy { $0 == 3 })
    }

    @Test("calls beyond a lower limit finish, none begins before they have, and then calls continue")
    func fewerInFlight() {
        let harness = EngineHarness { $0.maxInFlight = 8 }
        for number in 0..<12 { harness.event("u\(number)") }
        #expect(harness.calls.count == 8)
        harness.use { $0.maxInFlight = 2 }
        for expected in [7, 6, 5, 4, 3, 2] {
            harness.answer(200)
            #expect(harness.calls.count == expected)
        }
        harness.answer(200)
        #expect(harness.calls.count == 2, "the third begins when one of two has ended")
        while !harness.calls.isEmpty { harness.answer(200) }
        #expect(harness.takeSummaries().count == 12)
    }

    @Test("a higher limit per second does not wait for the former one's next call")
    func higherRate() {
        let harness = EngineHarness { $0.callsPerSecond = 0.1 }
        for number in 0..<4 { harness.event("u\(number)") }
        #expect(harness.calls.count == 1)
        harness.pass(.milliseconds(200))
        #expect(harness.calls.count == 1, "the next one is due in ten seconds")
        harness.use { $0.callsPerSecond = 10 }
        #expect(harness.calls.count == 2)
        harness.pass(.milliseconds(100))
        #expect(harness.calls.count == 3)
        harness.use { $0.callsPerSecond = nil }
        #expect(harness.calls.count == 4)
    }

    @Test("a lower limit per second counts from the latest call on, for one push service as for all")
    func lowerRate() {
        let harness = EngineHarness { $0.maxInFlight = 100 }
        harness.use { $0.serviceCallsPerSecond = [1, nil, nil] }
        for number in 0..<3 { harness.event("u\(number)", "apns,gcm") }
        #expect(harness.calls.count == 4, "one to apns, three to gcm")
        harness.use { $0.serviceCallsPerSecond = [0.5, nil, nil] }
        harness.pass(.milliseconds(1_900))
        #expect(harness.calls.count == 4)
        harness.pass(.milliseconds(100))
        #expect(harness.calls.count == 5)
    }

    @Test("the limits learned from the backend stay when the limits of the settings change")
    func foundRateStays() {
        let harness = EngineHarness { $0.maxInFlight = 1_000 }
        for second in 0..<4 {
            for number in 0..<200 { harness.event("u\(second)-\(number)") }
            for number in 0..<harness.calls.count {
                harness.answer(
                    number % 2 == 0 ? CallResult(status: 429, retryAfter: .seconds(1)) : CallResult(status: 200))
            }
            harness.pass(.seconds(1))
        }
        let found = harness.engine.rateLimit(ofService: 0)
        #expect(found != nil)
        harness.use { $0.serviceCallsPerSecond = [10_000, nil, nil] }
        #expect(harness.engine.rateLimit(ofService: 0) == found)
    }

    @Test("a status that becomes transient counts for later answers, and revives no dead letter")
    func statuses() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        harness.answer(404)
        #expect(harness.takeSummaries() == ["result apns dead-lettered", "dead apns rejected 404"])
        harness.use { $0.statuses = StatusTable(overrides: [404: .transient]) }
        #expect(harness.takeSummaries() == [])
        harness.answer(404)
        harness.pass(.milliseconds(200))
        harness.answer(404)
        #expect(harness.takeSummaries() == ["retry 1s apns transient 2"])
    }

    @Test("an event that was refused twice is judged by the new statuses, and causes no outage")
    func suspects() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(403)
        harness.answer(403)
        #expect(harness.calls.isEmpty, "it waits for others' answers")
        harness.use { $0.statuses = StatusTable(overrides: [403: .rejected]) }
        harness.answer(403)
        #expect(harness.takeSummaries() == ["result apns dead-lettered", "dead apns rejected 403"])
        harness.pass(.seconds(2))
        #expect(harness.engine.outage == nil)
    }

    /// An engine whose dead-letter breaker, or breaker, has opened.
    private func broken(by status: Int) -> EngineHarness {
        let harness = EngineHarness {
            $0.maxInFlight = 1_000
            $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)])
            $0.breaker = BreakerRule(share: 0.8, of: 30)
            $0.deadLetterBreaker = BreakerRule(share: 0.5, of: 40)
        }
        for number in 0..<60 { harness.event("u\(number)") }
        while !harness.calls.isEmpty { harness.answer(status) }
        #expect(harness.engine.outage != nil)
        _ = harness.takeOthers()
        _ = harness.takeSummaries()
        return harness
    }

    @Test("an outage ends with its breaker, and the waiting events are called")
    func breakerOff() {
        let breaker = broken(by: 503)
        breaker.use { $0.breaker.of = 0 }
        #expect(breaker.takeOthers() == [.notice(.outageEnded(.breaker))])
        #expect(!breaker.calls.isEmpty)
        let deadLetterBreaker = broken(by: 404)
        deadLetterBreaker.use { $0.breaker.of = 0 }
        #expect(deadLetterBreaker.engine.outage?.reason == .deadLetterBreaker, "the other breaker is not meant")
        deadLetterBreaker.use { $0.deadLetterBreaker.share = 2 }
        #expect(deadLetterBreaker.takeOthers() == [.notice(.outageEnded(.deadLetterBreaker))])
        while !deadLetterBreaker.calls.isEmpty { deadLetterBreaker.answer(404) }
        #expect(deadLetterBreaker.takeSummaries().contains("dead apns rejected 404"))
    }

    @Test("an outage by a status that no longer makes dead letters ends, and its events are retried")
    func reclassifiedOutage() {
        let harness = broken(by: 404)
        harness.use { $0.statuses = StatusTable(overrides: [410: .transient]) }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        #expect(harness.calls.count == 1, "it is probed at once")
        harness.use {
            $0.statuses = StatusTable(overrides: [404: .transient])
            $0.breaker.of = 0
        }
        #expect(harness.engine.outage == nil)
        while !harness.calls.isEmpty { harness.answer(404) }
        let summaries = harness.takeSummaries()
        #expect(!summaries.isEmpty && summaries.allSatisfy { $0 == "retry 1s apns transient 1" })
    }

    @Test("a dead-letter breaker with a smaller window judges by the latest answers that it saw")
    func shorterMemory() {
        var breaker = DeadLetterBreaker(rule: BreakerRule(share: 0.5, of: 40))
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        for number in 0..<60 { breaker.pass(source: UInt64(number % 2), now: now) }
        var opens = (0..<5).map { breaker.fail(status: 404, user: $0, source: 0, now: now) }
        #expect(!opens.contains(true))
        breaker.use(BreakerRule(share: 0.5, of: 10))
        opens = [breaker.fail(status: 404, user: 99, source: 1, now: now)]
        #expect(opens == [true], "six of the latest ten")
        breaker.use(BreakerRule(share: 0.5, of: 20))
        breaker.pass(source: 1, now: now)
        opens = [breaker.fail(status: 404, user: 100, source: 1, now: now)]
        #expect(opens == [false], "it has not seen twenty")
    }

    @Test("unchanged settings have no effect")
    func same() {
        let harness = broken(by: 503)
        harness.use { _ in }
        #expect(harness.calls.isEmpty && harness.takeOthers().isEmpty)
    }
}

extension EngineHarness {
    /// Gives the engine changed settings.
    fileprivate func use(_ change: (inout LiveConfiguration) -> Void) {
        var live = engine.configuration.live
        change(&live)
        engine.use(live, now: now)
        pass(.zero)
    }
}
