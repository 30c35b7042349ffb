import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Events that delay others")
struct EngineBlockedTests {
    /// Lets time pass in steps of the sweep, and acknowledges the commits.
    private func wait(_ harness: EngineHarness, _ milliseconds: Int64) {
        for _ in 0..<milliseconds / 1_000 {
            harness.pass(.seconds(1))
            harness.commitEnds(.acknowledged)
        }
    }

    @Test("a user's events behind a call that hangs are moved to the first delay topic, in their order")
    func followers() {
        let harness = EngineHarness.atomic()
        for user in ["slow", "slow", "slow", "quick"] { harness.event(user) }
        harness.pass(.zero)
        wait(harness, 14_000)
        #expect(harness.summaries.isEmpty)
        wait(harness, 1_000)
        #expect(harness.takeSummaries() == ["retry 1s apns blocked 0", "retry 1s apns blocked 0"])
        #expect(harness.usersInFlight == ["slow", "quick"], "a call can't be taken back")
        #expect(harness.engine.counters.retried == 2)
    }

    @Test("an event whose call hung is not called again from memory", arguments: [503, 200])
    func itself(status: Int) {
        let harness = EngineHarness.atomic()
        harness.event("slow")
        harness.event("slow")
        wait(harness, 16_000)
        _ = harness.takeSummaries()
        harness.answer(status)
        #expect(harness.summaries == [status == 200 ? "result apns delivered" : "retry 1s apns transient 1"])
        harness.pass(.seconds(1))
        #expect(harness.calls.isEmpty)
    }

    @Test("a user's later events wait for the call no longer than the first ones")
    func later() {
        let harness = EngineHarness.atomic()
        harness.event("slow")
        wait(harness, 16_000)
        harness.event("slow")
        wait(harness, 1_000)
        #expect(harness.summaries == ["retry 1s apns blocked 0"])
    }

    @Test("a service that waits for a quick retry is moved, a delivered one is not")
    func resting() {
        let harness = EngineHarness.atomic { $0.blockedAfter = .zero }
        harness.event("a", "apns,gcm")
        harness.answer(200)
        let token = harness.takeCall()
        harness.engine.answer(token, CallResult(status: 503), now: harness.now, entropy: 150)
        harness.pass(.milliseconds(1))
        #expect(harness.summaries == ["result apns delivered", "retry 1s gcm blocked 1"])
    }

    @Test("a long line of a user whose calls are quick moves on by itself")
    func busy() {
        let harness = EngineHarness.atomic()
        for _ in 0..<16 { harness.event("busy") }
        for _ in 0..<16 {
            harness.pass(.seconds(1))
            harness.answer(200)
        }
        #expect(!harness.summaries.contains { $0.contains("blocked") })
    }

    @Test("an event without a chance of a call is not moved")
    func notCalled() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 1 }
        harness.event("a")
        harness.event("b")
        harness.event("b")
        wait(harness, 20_000)
        #expect(harness.usersInFlight == ["a"])
        #expect(harness.summaries.isEmpty)
    }

    @Test("in an outage all events wait for the backend and none is moved, and its time does not count")
    func outage() {
        let harness = EngineHarness.atomic()
        harness.event("a")
        harness.event("b")
        harness.event("b")
        harness.answer(CallResult(failure: .tls))
        wait(harness, 20_000)
        #expect(!harness.summaries.contains { $0.contains("blocked") })
        // The call of "b" was sent before; the probe is "a" again.
        let hanging = harness.takeCall()
        harness.answer(200)
        #expect(harness.engine.outage == nil)
        wait(harness, 14_000)
        #expect(harness.summaries == ["result apns delivered"])
        wait(harness, 1_000)
        #expect(harness.summaries == ["result apns delivered", "retry 1s apns blocked 0"])
        harness.answer(hanging, CallResult(status: 200))
    }

    @Test("an order of partitions keeps every event in its place, and without an order no event has to move")
    func otherOrders() {
        for ordering in [Ordering.partition, .none] {
            let harness = EngineHarness.atomic { $0.ordering = ordering }
            harness.event("slow")
            harness.event("slow")
            wait(harness, 20_000)
            #expect(harness.summaries.isEmpty)
        }
    }

    @Test("without delays no event is moved")
    func withoutDelays() {
        let harness = EngineHarness.atomic { configuration in
            configuration.retryDelays = []
            configuration.retry = RetryPolicy(immediate: 2, delays: [])
        }
        harness.event("slow")
        harness.event("slow")
        wait(harness, 20_000)
        #expect(harness.summaries.isEmpty)
        harness.answer(200)
        #expect(harness.usersInFlight == ["slow"])
    }

    @Test("a moved retry keeps its own count and gives the reason for its wait")
    func retries() {
        let harness = EngineHarness.atomic()
        let headers = [("herald-attempts", "2"), ("herald-origin", "notifications/0/1"), ("herald-not-before", "1")]
        harness.event("slow")
        harness.event("slow", on: EngineHarness.oneSecond, headers: headers)
        harness.pass(.seconds(1))
        wait(harness, 15_000)
        #expect(harness.summaries == ["retry 1s apns blocked 2"])
    }
}
