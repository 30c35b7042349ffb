import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The circuit breaker and the dead-letter breaker")
struct EngineBreakerTests {
    private func breaking(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        EngineHarness {
            $0.maxInFlight = 1_000
            $0.breaker = BreakerRule(share: 0.8, of: 30)
            $0.deadLetterBreaker = BreakerRule(share: 0.5, of: 40)
            change(&$0)
        }
    }

    @Test(
        "too many transient failures hold calls; calls under way do not count; a successful probe ends it"
    )
    func breaker() {
        let harness = breaking()
        for number in 0..<60 { harness.event("u\(number)") }
        for _ in 0..<29 { harness.answer(503) }
        #expect(harness.engine.outage == nil)
        harness.answer(503)
        #expect(harness.engine.outage?.reason == .breaker)
        #expect(harness.takeOthers() == [.notice(.outageBegan(.breaker))])
        while !harness.calls.isEmpty { harness.answer(CallResult(failure: .timeout)) }
        harness.pass(.milliseconds(400))
        #expect(harness.calls.isEmpty, "quick retries wait too")
        #expect(harness.produced.isEmpty)
        harness.pass(.milliseconds(600))
        #expect(harness.calls.count == 1)
        harness.answer(503)
        #expect(harness.engine.outage?.reason == .breaker)
        harness.pass(.seconds(2))
        harness.answer(200)
        #expect(harness.takeOthers() == [.notice(.outageEnded(.breaker))])
        while !harness.calls.isEmpty { harness.answer(200) }
        let attempts = harness.produced.map(\.production.attempts)
        #expect(attempts.count == 60 && attempts.allSatisfy { $0 <= 2 })
    }

    @Test("one push service that fails alone trips no breaker")
    func oneServiceFails() {
        let harness = breaking {
            $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)])
            $0.breaker = BreakerRule(share: 0.8, of: 100)
        }
        for number in 0..<400 {
            harness.event("u\(number)", number % 6 == 0 ? "gcm" : "apns")
            harness.answer(number % 6 == 0 ? 200 : 503)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
    }

    @Test(
        "a wrong path costs fewer dead letters than the breaker counts; later events wait unsettled"
    )
    func deadLetterBreaker() {
        let harness = breaking()
        for number in 0..<100 { harness.event("u\(number)") }
        while !harness.calls.isEmpty { harness.answer(404) }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        #expect(harness.engine.outage?.status == 404)
        #expect(harness.produced.count { $0.production.kind == .deadLetter } == 39)
        harness.pass(.seconds(1))
        harness.answer(404)
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        #expect(harness.produced.count { $0.production.kind == .deadLetter } == 39)
        harness.pass(.seconds(2))
        harness.answer(200)
        #expect(harness.engine.outage == nil)
        while !harness.calls.isEmpty { harness.answer(200) }
        let results = harness.produced.map(\.production).filter { $0.kind == .result }
        #expect(results.count { $0.outcome == .delivered } == 61)
        #expect(results.allSatisfy { $0.attempts == 1 })
    }

    @Test(
        "a rejected probe of the dead-letter breaker delays others by a quarter of a second, not a whole one"
    )
    func probesOfTheDeadLetterBreaker() {
        let harness = breaking()
        for number in 0..<100 { harness.event("u\(number)") }
        while !harness.calls.isEmpty { harness.answer(404) }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        for number in 0..<3 { harness.event("other-\(number)") }
        harness.pass(.seconds(1))
        for number in 0..<3 {
            #expect(harness.calls.count == 1)
            guard !harness.calls.isEmpty else { return }
            harness.answer(404)
            guard number < 2 else { return }
            harness.pass(.milliseconds(249))
            #expect(harness.calls.isEmpty)
            harness.pass(.milliseconds(1))
        }
    }

    @Test("bad events of one source trip no breaker while another source's get through")
    func sources() {
        let harness = breaking()
        for number in 0..<300 {
            let isBad = number % 2 != 0
            harness.event("u\(number)", more: #","source":"\#(isBad ? "campaign" : "login")""#)
            harness.answer(isBad ? 400 : 200)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
        for number in 0..<40 where harness.engine.outage == nil {
            harness.event("v\(number)", more: number % 2 == 0 ? #","source":"login""# : "")
            harness.answer(400)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
    }

    @Test("a push service that rejects everything is held alone while another's calls get through")
    func pushServices() {
        let harness = breaking()
        for number in 0..<300 {
            harness.event("u\(number)", number.isMultiple(of: 2) ? "apns" : "gcm")
            if !harness.calls.isEmpty { harness.answer(number.isMultiple(of: 2) ? 200 : 404) }
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
        #expect(harness.engine.holds.map(\.status) == [404])
        for number in 0..<100 where harness.engine.outage == nil {
            harness.event("v\(number)")
            harness.answer(404)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker, "the other one rejects everything, too")
    }

    @Test("events that do not decode, and different statuses, trip no breaker")
    func others() {
        let harness = breaking()
        for number in 0..<200 {
            harness.record("{")
            harness.event("u\(number)")
            harness.answer([400, 404, 410][number % 3])
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
    }

    @Test("events with exhausted attempts are no sign of a wrong path")
    func exhausted() {
        let harness = breaking {
            $0.retry = RetryPolicy(immediate: 0, delays: [])
            $0.breaker = BreakerRule(of: 0)
        }
        for number in 0..<60 { harness.event("u\(number)") }
        while !harness.calls.isEmpty { harness.answer(503) }
        #expect(harness.engine.outage == nil)
        #expect(harness.produced.count { $0.production.kind == .deadLetter } == 60)
    }

    @Test("a few users, however often they are rejected or fail, stop no other", arguments: [404, 503])
    func fewUsers(everySecond status: Int) {
        let harness = breaking { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        for number in 0..<400 {
            harness.event("u\(number % 9)")
            harness.answer(number % 2 == 0 ? status : 503)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
    }

    @Test("a wrong path is found even if several events belong to one user")
    func repeatedUsers() {
        let harness = breaking()
        for number in 0..<80 where harness.engine.outage == nil {
            harness.event("u\(number % 10)")
            harness.answer(404)
        }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        #expect(harness.produced.count { $0.production.kind == .deadLetter } == 39)
    }

    @Test("retries of earlier failures trip no breaker while other events get through, and do when none does")
    func retriesOfTheSame() {
        let harness = breaking { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        func retries(_ range: Range<Int>) {
            let headers = [("herald-attempts", "1"), ("herald-first-attempt-at", "\(harness.time - 2_000)")]
            for number in range { harness.event("u\(number)", on: EngineHarness.oneSecond, headers: headers) }
            harness.pass(.seconds(1))
        }
        retries(0..<50)
        harness.event("well")
        harness.answer(harness.takeCall(at: harness.calls.count - 1), CallResult(status: 200))
        for _ in 0..<50 { harness.answer(503) }
        #expect(harness.engine.outage == nil)
        harness.pass(.seconds(30))
        retries(50..<80)
        for _ in 0..<30 { harness.answer(503) }
        #expect(harness.engine.outage?.reason == .breaker)
    }

    @Test("an event that arrives during the outage is probed soon, however many failing ones wait before it")
    func newestIsAsked() {
        let harness = breaking()
        for number in 0..<300 { harness.event("u\(number)") }
        while harness.engine.outage == nil { harness.answer(503) }
        while !harness.calls.isEmpty { harness.answer(503) }
        harness.event("well")
        var seconds = 0
        while harness.engine.outage != nil, seconds < 10 {
            harness.pass(.seconds(1))
            seconds += 1
            let isWell = harness.usersInFlight == ["well"]
            harness.answer(isWell ? 200 : 503)
        }
        #expect(seconds <= 4)
    }

    @Test("every topic's events serve as probes, so that a bad campaign never blocks another topic for ever")
    func probes() {
        let harness = breaking { $0.maxInFlight = 100 }
        for number in 0..<80 { harness.event("bulk\(number)", on: EngineHarness.bulk) }
        while !harness.calls.isEmpty { harness.answer(400) }
        #expect(harness.engine.outage?.reason == .deadLetterBreaker)
        let source = harness.engine.nextSource()
        #expect(source == EngineHarness.request)
        harness.event("urgent")
        var wait: Int64 = 1_000
        for _ in 0..<3 where harness.engine.outage != nil {
            harness.pass(.milliseconds(wait))
            wait *= 2
            let token = harness.takeCall()
            harness.answer(token, CallResult(status: harness.user(token) == "urgent" ? 200 : 400))
        }
        #expect(harness.engine.outage == nil)
    }
}

@Suite("Renewable credentials")
struct EngineRenewalTests {
    @Test("are renewed once for all refused calls, which are then repeated once")
    func renewal() {
        let harness = EngineHarness()
        harness.renewsAtOnce = false
        for user in ["a", "b", "c"] { harness.event(user) }
        harness.answer(401)
        harness.answer(401)
        #expect(harness.takeOthers() == [.renewCredentials])
        #expect(harness.calls.count == 1, "others go on")
        harness.answer(200)
        harness.credentialsRenewed()
        #expect(harness.usersInFlight == ["a", "b"])
        harness.answer(200)
        harness.answer(200)
        #expect(harness.engine.outage == nil)
        #expect(harness.produced.map(\.production.attempts) == [1, 1, 1])
    }

    @Test("refused again after that: everything holds, and the next refused calls cause no second renewal")
    func refusedAgain() {
        let harness = EngineHarness()
        harness.renewsAtOnce = false
        harness.event("a")
        harness.answer(401)
        #expect(harness.takeOthers() == [.renewCredentials])
        harness.credentialsRenewed()
        harness.answer(401)
        harness.pass(Engine.suspectPatience)
        #expect(harness.takeOthers() == [.notice(.outageBegan(.credentials))])
    }

    @Test("that change while a call is refused again: it is repeated, although the new ones are accepted")
    func changedMeanwhile() throws {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(401)
        let late = harness.takeCall()
        harness.changeCredentials()
        harness.event("b")
        harness.answer(200)
        harness.answer(late, CallResult(status: 401))
        try #require(harness.usersInFlight == ["a"])
        harness.answer(200)
        #expect(harness.produced.map(\.production.kind) == [.result, .result])
        #expect(harness.engine.outage == nil)
    }

    @Test("that are accepted again while a call is refused again: the call is repeated once more")
    func acceptedMeanwhile() throws {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(401)
        let late = harness.takeCall()
        harness.event("b")
        harness.answer(401)
        harness.answer(401)
        harness.pass(Engine.suspectPatience)
        try #require(harness.engine.outage?.reason == .credentials)
        harness.pass(.minutes(1))
        harness.answer(200)
        try #require(harness.engine.outage == nil)
        harness.answer(late, CallResult(status: 401))
        try #require(harness.usersInFlight == ["a"])
        harness.answer(200)
        #expect(harness.produced.map(\.production.kind) == [.result, .result])
    }

    @Test("that change while a call is refused do not save a call that the new ones do not help either")
    func changedInVain() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(401)
        let late = harness.takeCall()
        harness.changeCredentials()
        harness.answer(late, CallResult(status: 401))
        harness.event("b")
        let again = harness.takeCall()
        harness.answer(200)
        harness.answer(again, CallResult(status: 401))
        #expect(harness.calls.isEmpty)
        #expect(harness.engine.outage == nil)
        #expect(harness.produced.count == 3, "b's result, a's dead letter and its result")
    }

    @Test("without a token no call is made, not even a probe")
    func unavailable() {
        let harness = EngineHarness()
        harness.engine.credentialsUnavailable(now: harness.now)
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.notice(.outageBegan(.tokenUnavailable))])
        harness.event("a")
        harness.pass(.seconds(100))
        #expect(harness.calls.isEmpty)
        harness.changeCredentials()
        #expect(harness.calls.count == 1)
        #expect(harness.takeOthers() == [.notice(.outageEnded(.tokenUnavailable))])
    }

    @Test("a token missing before the assignment counts as missing afterwards")
    func unavailableAtTheStart() {
        let harness = EngineHarness()
        harness.revoke()
        harness.engine.credentialsUnavailable(now: harness.now)
        harness.reassign()
        #expect(harness.engine.outage?.reason == .tokenUnavailable)
        harness.changeCredentials()
        #expect(harness.engine.outage == nil)
    }

    @Test("a stop during their renewal gives the events back")
    func stop() {
        let harness = EngineHarness()
        harness.renewsAtOnce = false
        harness.event("a")
        harness.answer(401)
        harness.drain()
        harness.credentialsRenewed()
        #expect(harness.takeOthers().contains(.leave(complete: true)))
        #expect(harness.calls.isEmpty)
    }
}
