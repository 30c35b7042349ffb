import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("An answer whose meaning is not its status alone")
struct EngineVerdictTests {
    private static let quotaUsedUp = OutageReason.target(TargetOutage("quota-used-up", "none is left", step: "wait"))
    private static let hubNotFound = OutageReason.target(TargetOutage("hub-not-found", "there is none", step: "look"))

    @Test(
        "that concerns the hub begins an outage, costs no attempt, and ends with it",
        arguments: [(403, quotaUsedUp), (404, hubNotFound)])
    func holds(status: Int, reason: OutageReason) {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(status: status, read: .outage(reason)))
        #expect(harness.takeOthers() == [.notice(.outageBegan(reason))])
        #expect(harness.summaries.isEmpty)
        harness.pass(.seconds(1))
        harness.answer(CallResult(status: status, read: .outage(reason)))
        #expect(harness.summaries.isEmpty)
        harness.pass(.seconds(2))
        harness.answer(201)
        #expect(harness.takeOthers() == [.notice(.outageEnded(reason))])
        #expect(harness.summaries == ["result apns delivered"])
        #expect(harness.produced[0].production.attempts == 1)
    }

    @Test("is overridden by the settings for its status")
    func settings() {
        let harness = EngineHarness { $0.statuses = StatusTable(overrides: [404: .rejected, 403: .transient]) }
        harness.event("a")
        harness.answer(CallResult(status: 404, read: .outage(Self.hubNotFound)))
        #expect(harness.engine.outage == nil)
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns rejected 404"])
        harness.event("b")
        harness.answer(CallResult(status: 403, read: .outage(Self.quotaUsedUp)))
        #expect(harness.engine.outage == nil)
    }

    @Test("ends its outage when the settings give its status another meaning")
    func changedSettings() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(status: 404, read: .outage(Self.hubNotFound)))
        #expect(harness.engine.outage?.reason == Self.hubNotFound)
        var live = harness.engine.configuration.live
        live.statuses = StatusTable(overrides: [404: .rejected])
        harness.engine.use(live, now: harness.now)
        #expect(harness.engine.outage == nil)
    }

    @Test("a 403 that throttles does not concern credentials, and waits as long as it says")
    func throttled() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(status: 403, retryAfter: .seconds(20), read: .throttled))
        #expect(harness.takeOthers().isEmpty)
        #expect(harness.engine.outage == nil)
        #expect(harness.engine.counters.calls(.throttled, service: 0) == 1)
        #expect(harness.summaries.first?.contains("throttled") == true, "\(harness.summaries)")
    }

    @Test("a request too large to send is a dead letter without an attempt, and no sign about the backend")
    func oversized() {
        let harness = EngineHarness()
        for number in 0..<300 {
            harness.event("user\(number)")
            harness.answer(CallResult(oversized: "17 bytes too many"))
        }
        #expect(harness.engine.outage == nil)
        #expect(harness.engine.counters.deadLetters(.oversized) == 300)
        #expect(harness.engine.counters.calls(.oversized, service: 0) == 300)
        #expect(harness.produced.allSatisfy { $0.production.attempts == 0 })
        #expect(harness.result(at: 0).contains("17 bytes too many"))
    }

    @Test("a call that may have arrived is repeated by default", arguments: [CallFailure.timeout, .reset, .brokenHTTP])
    func unansweredRepeated(failure: CallFailure) {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: failure, mayHaveArrived: true))
        harness.pass(.seconds(1))
        #expect(harness.calls.count == 1)
    }

    @Test(
        "a call that may have arrived becomes a dead letter when the settings forbid repeats; others do not",
        arguments: [CallFailure.timeout, .reset, .brokenHTTP])
    func unanswered(failure: CallFailure) {
        let harness = EngineHarness { $0.repeatsUnanswered = false }
        harness.event("a")
        harness.answer(CallResult(failure: failure, detail: "no answer in time", mayHaveArrived: true))
        #expect(harness.calls.isEmpty)
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns unanswered 0"])
        #expect(harness.produced[0].production.attempts == 1)
        #expect(harness.result(at: 0).contains("no answer in time"))
        harness.event("b")
        harness.answer(CallResult(failure: failure))
        harness.pass(.seconds(1))
        #expect(harness.calls.count == 1)
    }

    @Test("a call that may have arrived is not repeated by an outage either, and still counts for its breaker")
    func unansweredInOutage() {
        let harness = EngineHarness {
            $0.repeatsUnanswered = false
            $0.breaker = BreakerRule(share: 0.5, of: 10)
        }
        for number in 0..<40 { harness.event("user\(number)") }
        while !harness.calls.isEmpty { harness.answer(CallResult(failure: .timeout, mayHaveArrived: true)) }
        #expect(harness.engine.outage?.reason == .breaker)
        let letters = harness.engine.counters.deadLetters(.unanswered)
        #expect(letters == harness.engine.counters.calls)
        harness.pass(.seconds(1))
        harness.answer(CallResult(failure: .timeout, mayHaveArrived: true))
        #expect(harness.engine.counters.deadLetters(.unanswered) == letters + 1)
        #expect(harness.engine.outage != nil)
    }

    @Test("the parts that a backend does not take are in the results of what was delivered, and counted")
    func omitted() {
        let harness = EngineHarness { $0.carriedContent = [ContentFields([.title, .data])] }
        let content = #","title":"t","link":"shop://1","badge":0"#
        harness.event("a", more: content)
        harness.answer(CallResult(status: 200))
        #expect(harness.result(at: 0).contains(#""omitted":["link","badge"]"#))
        #expect(harness.engine.counters.omitted(.link, service: 0) == 1)
        #expect(harness.engine.counters.omitted(.title, service: 0) == 0)
        harness.event("b", more: content)
        harness.answer(CallResult(status: 400))
        #expect(harness.engine.counters.omitted(.link, service: 0) == 1)
    }

    @Test("the backend's identifier of a message is in its result if the settings keep it", arguments: [true, false])
    func backendID(isKept: Bool) {
        let harness = EngineHarness { $0.keepsBackendIDs = isKept }
        harness.event("a")
        harness.answer(CallResult(status: 201, detail: "NH-20221214202418813-1-06"))
        #expect(harness.summaries == ["result apns delivered"])
        #expect(harness.result(at: 0).contains("\"backendId\":\"NH-20221214202418813-1-06\"") == isKept)
        #expect(!harness.result(at: 0).contains("detail"))
    }
}
