import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A hold of one push service")
struct EngineHoldTests {
    private static let wns = PushServices.standard.names.firstIndex(of: "wns") ?? 0

    private let harness = EngineHarness { $0.maxInFlight = 64 }

    /// The service's status for its calls; other calls are answered with 200.
    private func answerAll(_ status: Int) {
        var left = 2_000
        while !harness.calls.isEmpty, left > 0 {
            left -= 1
            let token = harness.takeCall()
            harness.answer(token, CallResult(status: Int(token.service) == Self.wns ? status : 200))
        }
        #expect(left > 0, "calls without an end")
    }

    /// A user of apns and one of wns, a few times a second.
    private func seconds(_ count: Int, _ status: Int, from first: Int = 0) {
        for second in first..<first + count {
            for number in 0..<4 {
                harness.event("a\(second)-\(number)", "apns")
                harness.event("w\(second)-\(number)", "wns")
            }
            answerAll(status)
            harness.pass(.milliseconds(500))
            answerAll(status)
            harness.pass(.milliseconds(500))
            answerAll(status)
        }
    }

    private func count(_ summary: String) -> Int { harness.summaries.count { $0.hasPrefix(summary) } }

    private var began: Int {
        harness.takeOthers().count { if case .notice(.holdBegan) = $0 { true } else { false } }
    }

    @Test("begins when one service refuses many users: few dead letters, no attempt, no delay of others")
    func refused() {
        seconds(10, 403)
        #expect(harness.engine.outage == nil)
        #expect(harness.engine.holds.map(\.service) == [Self.wns])
        #expect(harness.engine.holds.first?.reason == .credentials && harness.engine.holds.first?.status == 403)
        #expect(count("result apns delivered") == 40, "others are called at once")
        #expect(count("dead wns") < Credentials.mostSuspects, "\(count("dead wns")) dead letters")
        #expect(count("retry") > 0)
        #expect(harness.summaries.allSatisfy { !$0.hasPrefix("retry") || $0.hasSuffix(" held 0") })
        let details = harness.produced.indices.map { harness.headers(at: $0) }
            .filter { $0["herald-reason"] == "held" }.map { $0["herald-detail"] ?? "" }
        #expect(
            !details.isEmpty
                && details.allSatisfy { $0.hasPrefix("wns refuses every call with status 403, and is held since ") },
            "\(details)")
        #expect(began == 1, "one beginning")
    }

    @Test("begins without an outage of all, however rarely another push service is called", arguments: [2, 3, 9])
    func rareWitness(every seconds: Int) {
        for second in 0..<60 {
            if second % seconds == 0 { harness.event("a\(second)", "apns") }
            if second >= 10 { harness.event("w\(second)", "wns") }
            for _ in 0..<2 {
                answerAll(403)
                harness.pass(.milliseconds(500))
            }
            #expect(harness.engine.outage == nil, "second \(second)")
        }
        #expect(harness.engine.holds.map(\.service) == [Self.wns])
        #expect(count("result apns delivered") == (59 / seconds) + 1)
        #expect(count("dead wns") < 2 * Credentials.mostSuspects, "\(count("dead wns")) dead letters")
    }

    @Test("begins when one push service rejects many users, of several sources or one")
    func rejected() {
        seconds(20, 404)
        #expect(harness.engine.holds.first?.reason == .deadLetterBreaker)
        #expect(count("result apns delivered") == 80)
        #expect(count("dead wns rejected 404") < DeadLetterBreaker.users(of: BreakerRule(share: 0.5, of: 200)))
        #expect(began == 1, "one beginning")
    }

    @Test("ends when a probe is accepted, and all that waits in memory goes on")
    func ends() {
        seconds(10, 403)
        let delivered = count("result wns delivered")
        seconds(31, 200, from: 10)
        #expect(harness.engine.holds.isEmpty)
        #expect(harness.takeOthers().contains { if case .notice(.holdEnded) = $0 { true } else { false } })
        #expect(count("result wns delivered") > delivered)
    }

    @Test("makes one probe at a time, after 1, 2, 4 … 30 s")
    func probes() {
        seconds(5, 403)
        let pace = harness.engine.holds.first?.interval ?? .zero
        #expect(pace >= .seconds(2) && pace <= .seconds(8))
        seconds(60, 403, from: 5)
        #expect(harness.engine.holds.first?.interval == .seconds(30))
    }

    @Test("an event's known outcome is recorded at once: only events without one wait in memory as probes")
    func outcomeBeside() {
        seconds(20, 403)
        #expect(harness.engine.holds.first?.interval ?? .zero >= .seconds(8))
        harness.acknowledgeAll()
        harness.pass(.seconds(1))
        answerAll(403)
        harness.acknowledgeAll()
        for number in 0..<10 { harness.event("both-\(number)", "apns,wns") }
        answerAll(403)
        #expect(count("result apns delivered") == 10)
        #expect(count("retry") == 10, "\(harness.summaries)")
        // One without an outcome waits in memory: it is the next probe.
        harness.acknowledgeAll()
        let before = harness.engine.load.events
        harness.event("alone", "wns")
        #expect(harness.engine.load.events == min(before + 1, ServiceHold.candidates))
    }

    @Test("keeps its beginning when partitions change hands, and probes from 1 s on again; not when it was over")
    func since() throws {
        seconds(30, 403)
        let since = try #require(harness.engine.holds.first?.since)
        harness.revoke()
        harness.acknowledgeAll()
        harness.pass(.seconds(11))
        harness.reassign()
        #expect(harness.engine.holds.isEmpty)
        seconds(10, 403, from: 30)
        let hold = try #require(harness.engine.holds.first)
        #expect(hold.since == since && hold.interval <= .seconds(8))

        harness.revoke()
        harness.acknowledgeAll()
        harness.pass(.seconds(11))
        harness.reassign()
        seconds(1, 200, from: 40)
        seconds(10, 403, from: 41)
        #expect(try #require(harness.engine.holds.first).since > since)
    }

    @Test("writes what it holds once for each wait: 800 events are 67 records a second at first, 7 in the end")
    func records() throws {
        let delays: [Milliseconds] = [.seconds(5), .seconds(30), .minutes(2)]
        let harness = EngineHarness { $0.retry = RetryPolicy(delays: delays) }
        let begun = WallTime(milliseconds: 1_000_000_000)
        var moments: [Milliseconds] = []
        var age = Milliseconds.zero
        while age < .minutes(10) {
            moments.append(age)
            let now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: begun.advanced(by: age))
            guard case .retry(let delay, let due, _) = harness.engine.waitForHold(since: begun, now: now) else {
                return
            }
            let wait = due.time(since: now.wall)
            #expect(wait == delays[delay], "it is over with one record")
            #expect(wait <= max(age, .seconds(30)), "a repair is seen as soon as the hold was old, or within 30 s")
            age = age + wait
        }
        #expect(moments.count { $0 < .minutes(1) } * 800 / 60 == 66)
        #expect(moments.count { $0 >= .minutes(6) } * 800 / 240 == 6)
    }

    @Test("does not begin for a few users, however often they are refused")
    func fewUsers() {
        for second in 0..<30 {
            for number in 0..<4 {
                harness.event("a\(second)-\(number)", "apns")
                harness.event("w\(number)", "wns")
            }
            answerAll(403)
            harness.pass(.seconds(1))
            answerAll(403)
        }
        #expect(harness.engine.holds.isEmpty && harness.engine.outage == nil)
        #expect(count("dead wns rejected 403") > 100)
    }

    @Test("does not begin while others of the push service are accepted")
    func someAreRefused() {
        for second in 0..<30 {
            for number in 0..<4 {
                harness.event("a\(second)-\(number)", "apns")
                harness.event("bad\(second)-\(number)", "wns")
                harness.event("good\(second)-\(number)", "wns")
            }
            while !harness.calls.isEmpty {
                let isBad = harness.user(harness.calls[0]).hasPrefix("bad")
                harness.answer(isBad ? 403 : 200)
            }
            harness.pass(.milliseconds(400))
        }
        #expect(harness.engine.holds.isEmpty && harness.engine.outage == nil)
        #expect(count("result wns delivered") == 120)
    }

    @Test("of a push service alone is an outage of all")
    func onlyOne() {
        for number in 0..<20 { harness.event("w\(number)", "wns") }
        answerAllWaiting()
        #expect(harness.engine.outage?.reason == .credentials && harness.engine.holds.isEmpty)
    }

    private func answerAllWaiting() {
        for _ in 0..<40 where !harness.calls.isEmpty { harness.answer(403) }
        harness.pass(.seconds(1))
    }

    @Test("because of one sender's events ends with another's, and does not come back")
    func oneSender() {
        let bad = #","source":"bad""#
        for second in 0..<20 {
            harness.event("a\(second)", "apns")
            for number in 0..<4 { harness.event("w\(second)-\(number)", "wns", more: bad) }
            if second >= 5 { harness.event("g\(second)", "wns", more: #","source":"good""#) }
            for _ in 0..<2 {
                while !harness.calls.isEmpty {
                    let user = harness.user(harness.calls[0])
                    harness.answer(user.hasPrefix("w") ? 403 : 200)
                }
                harness.pass(.milliseconds(400))
            }
        }
        #expect(harness.engine.holds.isEmpty)
        #expect(began == 1)
        #expect(count("result wns delivered") == 15)
    }

    @Test("is tried again at once with other credentials, and ends with other settings")
    func settings() {
        seconds(5, 403)
        harness.event("w", "wns")
        harness.changeCredentials()
        #expect(harness.calls.count == 1)
        harness.answer(403)
        #expect(harness.engine.holds.count == 1)
        var live = harness.engine.configuration.live
        live.statuses = StatusTable(overrides: [403: .rejected])
        harness.engine.use(live, now: harness.now)
        #expect(harness.engine.holds.isEmpty)
    }

    @Test("goes with the partitions, and keeps nobody from stopping")
    func revoked() {
        seconds(5, 403)
        harness.revoke()
        #expect(harness.engine.holds.isEmpty)
    }

    @Test("stays beside an outage of all, whose probes are others'")
    func outage() {
        seconds(5, 403)
        harness.event("w", "wns")
        harness.event("a", "apns")
        harness.answer(CallResult(failure: .nameNotFound))
        #expect(harness.engine.outage?.reason == .nameNotFound && harness.engine.holds.count == 1)
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["a"])
        harness.answer(200)
        #expect(harness.engine.outage == nil && harness.engine.holds.count == 1)
    }

    @Test("is what its events wait for")
    func waiting() {
        seconds(5, 403)
        harness.event("w", "wns")
        var kinds: [WaitReason.Kind] = []
        harness.engine.forEachEvent { slot in
            kinds += harness.engine.waits(of: slot, now: harness.now) { _ in ("", "") }.map(\.reason.kind)
        }
        #expect(kinds.contains(.pushServiceHeld))
    }
}
