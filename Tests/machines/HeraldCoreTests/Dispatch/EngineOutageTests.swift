import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("An outage")
struct EngineOutageTests {
    @Test("begins when the credentials are refused twice, loses no attempt, and ends when a probe gets through")
    func credentials() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(401)
        #expect(harness.calls.count == 1)
        harness.answer(401)
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.takeOthers() == [.notice(.outageBegan(.credentials))])
        #expect(harness.calls.isEmpty)
        #expect(harness.summaries.isEmpty)
        harness.pass(.seconds(1))
        harness.answer(401)
        harness.pass(.milliseconds(1_999))
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(1))
        harness.answer(200)
        #expect(harness.takeOthers() == [.notice(.outageEnded(.credentials))])
        #expect(harness.summaries == ["result apns delivered"])
        #expect(harness.produced[0].production.attempts == 1)
    }

    @Test("changed credentials are tried at once")
    func changedCredentials() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(401)
        harness.answer(401)
        #expect(harness.calls.isEmpty)
        harness.changeCredentials()
        #expect(harness.calls.count == 1)
        harness.answer(200)
        #expect(harness.engine.outage == nil)
    }

    @Test(
        "begins at once when the backend cannot be reached safely",
        arguments: [
            (CallFailure.tls, OutageReason.tls), (.nameNotFound, .nameNotFound), (.proxyRefused, .proxyRefused),
        ])
    func unreachable(failure: CallFailure, reason: OutageReason) {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: failure))
        #expect(harness.takeOthers() == [.notice(.outageBegan(reason))])
        harness.pass(.seconds(1))
        harness.answer(200)
        #expect(harness.takeOthers() == [.notice(.outageEnded(reason))])
        #expect(harness.produced[0].production.attempts == 1)
    }

    @Test(
        "because of TLS or a proxy probes at once when files have changed", arguments: [CallFailure.tls, .proxyRefused])
    func changedFiles(failure: CallFailure) {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: failure))
        #expect(harness.calls.isEmpty)
        harness.changeCredentials()
        #expect(harness.calls.count == 1)
    }

    @Test("probes with another event each time, and rejects the one that is refused while others get through")
    func onlyOneIsRefused() {
        let harness = EngineHarness()
        harness.event("bad")
        harness.answer(403)
        harness.answer(403)
        harness.pass(.seconds(1))
        #expect(harness.engine.outage?.reason == .credentials)
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["bad"])
        harness.answer(403)
        // One user alone is no evidence about others: the first of them does not wait.
        harness.event("good")
        harness.pass(.zero)
        #expect(harness.usersInFlight == ["good"])
        harness.answer(200)
        #expect(harness.engine.outage == nil)
        #expect(harness.usersInFlight == ["bad"])
        harness.answer(403)
        #expect(harness.summaries.suffix(2) == ["result apns dead-lettered", "dead apns rejected 403"])
    }

    @Test("an event that is refused twice while others get through is rejected without an outage")
    func refusedAmongOthers() {
        let harness = EngineHarness()
        harness.event("bad")
        harness.answer(403)
        let second = harness.takeCall()
        harness.event("good")
        harness.answer(200)
        harness.answer(second, CallResult(status: 403))
        #expect(harness.engine.outage == nil)
        #expect(harness.summaries.last == "dead apns rejected 403")
    }

    @Test("an event that is refused twice waits for others' answers, and delays no other")
    func refusedBeforeOthers() {
        let harness = EngineHarness()
        harness.event("bad")
        harness.answer(403)
        harness.answer(403)
        harness.pass(.milliseconds(900))
        harness.event("good")
        #expect(harness.usersInFlight == ["good"])
        harness.answer(200)
        #expect(harness.takeOthers().isEmpty)
        #expect(
            harness.summaries == ["result apns dead-lettered", "dead apns rejected 403", "result apns delivered"])
    }

    @Test("begins when many users are refused twice")
    func manyAreRefused() {
        let harness = EngineHarness()
        for user in 1...8 { harness.event("user-\(user)") }
        for _ in 1...8 { harness.answer(401) }
        #expect(harness.engine.outage == nil)
        for _ in 1...8 { harness.answer(401) }
        #expect(harness.engine.outage?.reason == .credentials)
    }

    @Test("does not begin when one push service refuses everybody and another accepts calls")
    func onePushServiceRefuses() {
        let harness = EngineHarness { $0.maxInFlight = 32 }
        harness.event("good", "apns")
        let good = harness.takeCall()
        for user in 0..<20 { harness.event("u\(user)", "wns") }
        for _ in 0..<40 where !harness.calls.isEmpty { harness.answer(403) }
        #expect(harness.engine.outage == nil, "a call to apns is under way")
        harness.answer(good, CallResult(status: 200))
        harness.event("better", "apns")
        harness.answer(200)
        harness.pass(.seconds(2))
        #expect(harness.engine.outage == nil, "apns accepts calls")
    }

    @Test("does not begin for users that are refused among accepted ones, however many they are")
    func someAreRefused() {
        let harness = EngineHarness { $0.maxInFlight = 200 }
        for user in 0..<100 { harness.event("user-\(user)") }
        for user in 0..<100 { harness.answer(user % 10 == 0 ? 401 : 200) }
        #expect(harness.calls.count == 10)
        for _ in 0..<10 { harness.answer(401) }
        #expect(harness.engine.outage == nil)
        harness.event("other")
        harness.answer(200)
        #expect(harness.summaries.count { $0 == "dead apns rejected 401" } == 10)
        #expect(harness.engine.outage == nil)
    }

    @Test("an answer to a call that was sent before the password changed proves nothing")
    func lateAnswer() {
        let harness = EngineHarness()
        harness.event("early")
        harness.event("refused")
        let early = harness.takeCall()
        harness.answer(401)
        harness.answer(early, CallResult(status: 200))
        harness.answer(401)
        harness.pass(.seconds(1))
        #expect(harness.engine.outage?.reason == .credentials)
        #expect(harness.summaries == ["result apns delivered"])
    }

    @Test("a probe without an answer proves nothing and counts as no attempt")
    func silentProbe() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: .tls))
        harness.pass(.seconds(1))
        harness.answer(CallResult(failure: .timeout))
        #expect(harness.engine.outage != nil)
        harness.pass(.seconds(2))
        harness.answer(200)
        #expect(harness.produced[0].production.attempts == 1)
    }

    @Test("takes only a few more events of each topic, as probes")
    func taking() {
        let harness = EngineHarness { $0.maxInFlight = 1_000 }
        harness.event("a")
        harness.answer(CallResult(failure: .tls))
        var taken = [0, 0]
        while let source = harness.engine.nextSource() {
            guard source <= EngineHarness.bulk else {
                harness.engine.exhausted(source: source)
                continue
            }
            taken[source] += 1
            harness.event("u\(source)-\(taken[source])", on: source)
        }
        #expect(taken == [16, 16])
        #expect(harness.calls.isEmpty)
    }

    @Test("the waits between probes double up to half a minute")
    func backoff() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: .tls))
        for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] as [Int64] {
            harness.pass(.milliseconds(wait - 1))
            #expect(harness.calls.isEmpty)
            harness.pass(.milliseconds(1))
            #expect(harness.calls.count == 1)
            harness.answer(CallResult(failure: .tls))
        }
    }
}
