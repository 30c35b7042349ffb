import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Events that hold up others")
struct EngineBlockedTests {
    /// Lets the time pass in steps of the sweep; what is committed meanwhile is acknowledged.
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

    @Test("what comes of the call that hung is not called again from memory", arguments: [503, 200])
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

    @Test("a user's events that come later wait for the call, and for no longer than the first ones")
    func later() {
        let harness = EngineHarness.atomic()
        harness.event("slow")
        wait(harness, 16_000)
        harness.event("slow")
        wait(harness, 1_000)
        #expect(harness.summaries == ["retry 1s apns blocked 0"])
    }

    @Test("a service that rests before a quick retry is moved, one that is delivered is not")
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

    @Test("nobody is moved that could not be called yet")
    func notCalled() {
        let harness = EngineHarness.atomic { $0.maxInFlight = 1 }
        harness.event("a")
        harness.event("b")
        harness.event("b")
        wait(harness, 20_000)
        #expect(harness.usersInFlight == ["a"])
        #expect(harness.summaries.isEmpty)
    }

    @Test("in an outage everybody waits for the backend and nobody is moved, and the time of it does not count")
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

    @Test("with an order of partitions nobody is moved out of it, nor is there anybody to be moved without one")
    func otherOrders() {
        for ordering in [Ordering.partition, .none] {
            let harness = EngineHarness.atomic { $0.ordering = ordering }
            harness.event("slow")
            harness.event("slow")
            wait(harness, 20_000)
            #expect(harness.summaries.isEmpty)
        }
    }

    @Test("without delays there is nowhere to go")
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

    @Test("a moved retry keeps its own count and says why it waits")
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
