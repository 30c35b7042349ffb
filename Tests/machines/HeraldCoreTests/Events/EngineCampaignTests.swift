import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("A campaign that does not run")
struct EngineCampaignTests {
    private static let autumn = #","campaign":"autumn""#

    @Test("ends as cancelled results without a call and without dead letters when it is cancelled")
    func cancelled() {
        let harness = EngineHarness()
        harness.campaign("autumn", is: .cancelled)
        harness.event("a", "apns,gcm", on: EngineHarness.bulk, more: Self.autumn)
        harness.event("b", on: EngineHarness.bulk, more: #","campaign":"spring""#)
        harness.event("c")
        #expect(harness.usersInFlight == ["b", "c"])
        #expect(harness.takeSummaries() == ["result apns cancelled", "result gcm cancelled"])
        #expect(harness.engine.counters.notifications(.cancelled, service: 0) == 1)
    }

    @Test("suspends its events for the length of its pause, and no attempt is counted")
    func suspended() throws {
        let harness = EngineHarness()
        harness.campaign("autumn", is: .paused)
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.pass(.milliseconds(9_999))
        harness.event("b", on: EngineHarness.bulk, more: Self.autumn)
        harness.pass(.milliseconds(1))
        harness.event("c", "apns,gcm", on: EngineHarness.bulk, more: Self.autumn)
        #expect(harness.calls.isEmpty)
        #expect(harness.produced.map { $0.production.attempts } == [0, 0, 0])
        #expect(
            harness.produced.map { ($0.production.dueAt?.milliseconds ?? 0) - harness.time } == [
                1_000 - 10_000, 9_998, 10_000,
            ])
        #expect(
            harness.takeSummaries() == [
                "retry 1s apns paused 0", "retry 1s apns paused 0", "retry 10s apns,gcm paused 0",
            ])
    }

    @Test("that was paused for days is checked every five minutes")
    func parkedForLong() {
        let harness = EngineHarness()
        harness.campaign("autumn", is: .paused, for: .days(3))
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        #expect(harness.produced.map { ($0.production.dueAt?.milliseconds ?? 0) - harness.time } == [300_000])
    }

    @Test("takes its events out of the queue of calls at once, and lets calls under way end")
    func waiting() {
        let harness = EngineHarness { $0.maxInFlight = 1 }
        for user in ["a", "b"] { harness.event(user, on: EngineHarness.bulk, more: Self.autumn) }
        harness.event("c", on: EngineHarness.bulk)
        #expect(harness.usersInFlight == ["a"])
        harness.campaign("autumn", is: .cancelled)
        #expect(harness.takeSummaries() == ["result apns cancelled"])
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered"])
        #expect(harness.usersInFlight == ["c"])
    }

    @Test("has no retries when it is cancelled: transient failures end with the calls that were made")
    func failing() {
        let harness = EngineHarness()
        for user in ["resting", "calling"] { harness.event(user, on: EngineHarness.bulk, more: Self.autumn) }
        harness.answer(503)
        harness.campaign("autumn", is: .cancelled)
        #expect(harness.produced.map(\.production.attempts) == [1])
        harness.answer(503)
        #expect(harness.produced.map(\.production.attempts) == [1, 1])
        #expect(harness.takeSummaries() == ["result apns cancelled", "result apns cancelled"])
        harness.pass(.seconds(10))
        #expect(harness.calls.isEmpty)
    }

    @Test("suspends a quick retry with the calls that it had")
    func parkedRetry() {
        let harness = EngineHarness()
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.answer(503)
        harness.campaign("autumn", is: .paused)
        #expect(harness.takeSummaries() == ["retry 1s apns paused 1"])
    }

    @Test("is suspended repeatedly, and continues when it is resumed")
    func resumed() {
        let harness = EngineHarness()
        harness.campaign("autumn", is: .paused)
        let headers = [
            ("herald-attempts", "2"), ("herald-not-before", "\(harness.time + 1_000)"),
            ("herald-first-attempt-at", "\(harness.time)"), ("herald-origin", "notifications.bulk/0/7"),
        ]
        harness.event("a", on: EngineHarness.oneSecond, more: Self.autumn, headers: headers)
        harness.pass(.seconds(1))
        #expect(harness.takeSummaries() == ["retry 1s apns paused 2"])
        harness.campaign("autumn", is: .running)
        harness.event("a", on: EngineHarness.oneSecond, more: Self.autumn, headers: headers)
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["a"])
        harness.answer(200)
        #expect(harness.produced.last?.production.attempts == 3)
    }

    @Test("lets a retry partition continue behind its cancelled events, before they are due")
    func retryPartition() {
        let harness = EngineHarness()
        func headers(_ due: Int64) -> [(String, String)] {
            [("herald-attempts", "1"), ("herald-not-before", "\(due)"), ("herald-origin", "notifications/0/7")]
        }
        let due = harness.time + 9_000
        harness.event("a", on: EngineHarness.tenSeconds, more: Self.autumn, headers: headers(due))
        #expect(harness.engine.nextSource() == nil || harness.takeOthers().isEmpty)
        harness.campaign("autumn", is: .cancelled)
        #expect(harness.takeSummaries() == ["result apns cancelled"])
        harness.event("b", on: EngineHarness.tenSeconds, more: Self.autumn, headers: headers(due))
        #expect(harness.takeSummaries() == ["result apns cancelled"])
    }

    @Test("is fetched again at once when the event that held back its retry partition is cancelled")
    func farOff() {
        let harness = EngineHarness()
        harness.time += 20_000
        harness.event(
            "a", on: EngineHarness.tenSeconds, more: Self.autumn,
            headers: [
                ("herald-attempts", "1"), ("herald-not-before", "\(harness.time + 60_000)"),
                ("herald-origin", "notifications/0/7"),
            ])
        let paused = harness.takeOthers().contains { if case .pause = $0 { true } else { false } }
        harness.campaign("autumn", is: .cancelled)
        let resumed = harness.takeOthers().contains { if case .resume = $0 { true } else { false } }
        #expect(paused == resumed)
        #expect(harness.takeSummaries() == ["result apns cancelled"])
    }

    @Test("waits behind an earlier event of its user, and then ends")
    func behindUser() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.campaign("autumn", is: .cancelled)
        #expect(harness.summaries.isEmpty)
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered", "result apns cancelled"])
    }

    @Test("waits in memory when there are no retry topics")
    func withoutDelays() {
        let harness = EngineHarness {
            $0.retryDelays = []
            $0.retry = RetryPolicy(immediate: 1, delays: [])
        }
        harness.campaign("autumn", is: .paused)
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.pass(.seconds(5))
        #expect(harness.calls.isEmpty && harness.summaries.isEmpty)
        harness.campaign("autumn", is: .running)
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["a"])
    }

    @Test("is suspended even during an outage, without a probe of its events")
    func outage() {
        let harness = EngineHarness()
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.answer(CallResult(failure: .tls))
        harness.campaign("autumn", is: .paused)
        #expect(harness.takeSummaries() == ["retry 1s apns paused 0"])
        harness.event("b")
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["b"])
    }

    @Test("leaves room for others when it is paused after its events have taken all the room of an outage")
    func outageRoom() {
        let harness = EngineHarness()
        harness.event("a", on: EngineHarness.bulk, more: Self.autumn)
        harness.answer(CallResult(failure: .tls))
        for number in 0..<Outage.probeCandidates {
            harness.event("user-\(number)", on: EngineHarness.bulk, more: Self.autumn)
        }
        let isAsked = { (0..<100).contains { _ in harness.engine.nextSource() == EngineHarness.bulk } }
        #expect(!isAsked(), "there is enough to probe with")
        harness.campaign("autumn", is: .paused)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.pass(.seconds(1))
        #expect(harness.calls.isEmpty)
        #expect(isAsked(), "nobody is left to probe with")
    }
}

@Suite("A campaign that is paused for too many failures")
struct EngineCampaignFailureTests {
    private func run(
        _ harness: EngineHarness, delivered: Int, failed: Int, more: String = #","campaign":"autumn""#
    ) -> Int {
        for index in 0..<(delivered + failed) {
            harness.event("u\(index)", on: EngineHarness.bulk, more: more)
            harness.answer(index < delivered ? 200 : 400)
            harness.acknowledgeAll()
        }
        return harness.takeOthers().count {
            if case .pauseCampaign(let failures) = $0 { failures.campaign == "autumn" } else { false }
        }
    }

    private func harness() -> EngineHarness {
        EngineHarness {
            $0.deadLetterBreaker.of = 0
            $0.breaker.of = 0
        }
    }

    @Test("is reported once, after two hundred outcomes with a larger share of failures")
    func tooMany() {
        let harness = harness()
        harness.campaign("autumn", is: .running, pauseIfFailures: 0.05)
        #expect(run(harness, delivered: 180, failed: 19) == 0)
        #expect(run(harness, delivered: 0, failed: 1) == 1)
        #expect(run(harness, delivered: 0, failed: 100) == 0)
    }

    @Test("continues at exactly the share, and is counted anew when it is resumed")
    func justEnough() {
        let harness = harness()
        harness.campaign("autumn", is: .running, pauseIfFailures: 0.05)
        #expect(run(harness, delivered: 190, failed: 10) == 0)
        harness.campaign("autumn", is: .running, pauseIfFailures: 0.05)
        #expect(run(harness, delivered: 100, failed: 99) == 0)
        #expect(run(harness, delivered: 1, failed: 0) == 1)
    }

    @Test("is not affected by others' failures, nor by campaigns without a limit")
    func others() {
        let harness = harness()
        harness.campaign("autumn", is: .running, pauseIfFailures: 0.05)
        harness.campaign("spring", is: .running)
        #expect(run(harness, delivered: 0, failed: 300, more: #","campaign":"spring""#) == 0)
        #expect(run(harness, delivered: 0, failed: 300, more: "") == 0)
        #expect(run(harness, delivered: 200, failed: 5) == 0)
    }
}

@Suite("A campaign whose users are rejected")
struct EngineCampaignRejectionTests {
    private static let autumn = #","campaign":"autumn""#

    private func harness(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        let harness = EngineHarness {
            $0.maxInFlight = 1_000
            change(&$0)
        }
        harness.campaign("autumn", is: .running)
        return harness
    }

    /// Adds events of new users, each answered at once if it is called.
    private func answer(
        _ count: Int, with status: Int, as prefix: String = "u", on topic: Int = EngineHarness.bulk,
        more: String = autumn, headers: [(String, String)] = [], _ harness: EngineHarness
    ) {
        for number in 0..<count {
            harness.event("\(prefix)\(number)", on: topic, more: more, headers: headers)
            if !harness.calls.isEmpty { harness.answer(status) }
            harness.acknowledgeAll()
        }
    }

    private func pauses(_ harness: EngineHarness) -> [CampaignFailures] {
        harness.takeOthers().compactMap { if case .pauseCampaign(let failures) = $0 { failures } else { nil } }
    }

    private func deadLetters(_ harness: EngineHarness) -> Int {
        Int(harness.engine.counters.notifications(.deadLettered, service: 0))
    }

    @Test(
        "is paused, and stops no other event: of its topic and source or of others, few or many",
        arguments: [EngineHarness.bulk, EngineHarness.request],
        [("", 1), ("", 50), (#","source":"herald-campaign""#, 1), (#","source":"herald-campaign""#, 50)])
    func bystanders(topic: Int, others: (source: String, every: Int)) {
        let harness = harness()
        for number in 0..<500 {
            answer(1, with: 404, as: "u\(number)-", on: topic, more: Self.autumn + others.source, harness)
            guard number % others.every == 0 else { continue }
            harness.event("other\(number)", on: topic, more: others.source)
            #expect(harness.usersInFlight == ["other\(number)"])
            harness.answer(200)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.outage == nil)
        let reason = "its notifications are rejected: 200 of a worker's latest 200 calls with status 404"
        #expect(pauses(harness).map(\.reason) == [reason])
        #expect(deadLetters(harness) == 200)
    }

    @Test("does not stop another campaign of the same source")
    func otherCampaign() {
        let harness = harness()
        harness.campaign("spring", is: .running)
        let source = #","source":"herald-campaign""#
        answer(300, with: 400, more: Self.autumn + source, harness)
        #expect(harness.calls.isEmpty)
        harness.event("a", on: EngineHarness.bulk, more: #","campaign":"spring""# + source)
        #expect(harness.usersInFlight == ["a"])
        #expect(pauses(harness).count == 1)
    }

    @Test("is held at once: what waits is not called, and what was called has the outcome of its answer")
    func underWay() {
        let harness = harness { $0.maxInFlight = 400 }
        for number in 0..<500 { harness.event("u\(number)", on: EngineHarness.bulk, more: Self.autumn) }
        for _ in 0..<200 { harness.answer(404) }
        let underWay = harness.calls.count
        #expect(pauses(harness).count == 1 && underWay > 0)
        harness.campaign("autumn", is: .paused)
        while !harness.calls.isEmpty { harness.answer(404) }
        #expect(deadLetters(harness) == 200 + underWay)
        #expect(harness.summaries.count { $0.hasPrefix("retry 1s apns paused") } == 300 - underWay)
        #expect(pauses(harness).isEmpty, "asked once")
    }

    @Test("costs as few dead letters when the backend begins to reject everything in the middle of it")
    func midst() {
        let harness = harness()
        answer(900, with: 200, harness)
        answer(500, with: 404, as: "v", harness)
        #expect(deadLetters(harness) == 200)
        #expect(pauses(harness).count == 1)
    }

    @Test("continues when it is resumed, and is judged anew")
    func resumed() {
        let harness = harness()
        answer(300, with: 404, harness)
        #expect(pauses(harness).count == 1)
        harness.campaign("autumn", is: .paused)
        harness.campaign("autumn", is: .running)
        answer(199, with: 404, as: "v", harness)
        #expect(pauses(harness).isEmpty)
        answer(1, with: 404, as: "w", harness)
        #expect(pauses(harness).count == 1)
    }

    @Test(
        "continues while the rejected part is below the share, its own where that is larger",
        arguments: [(nil, 2, false), (nil, 3, true), (0.99, 4, false), (0.99, 5, true)] as [(Double?, Int, Bool)])
    func share(limit: Double?, rejectedOfFive: Int, isPaused: Bool) {
        let harness = harness()
        harness.campaign("autumn", is: .running, pauseIfFailures: limit)
        for number in 0..<500 {
            answer(1, with: number % 5 < rejectedOfFive ? 410 : 200, as: "u\(number)-", harness)
        }
        #expect(pauses(harness).count == (isPaused ? 1 : 0))
        #expect(harness.engine.outage == nil)
    }

    @Test("is not held where the dead-letter breaker is off")
    func off() {
        let harness = harness { $0.deadLetterBreaker.of = 0 }
        answer(500, with: 404, harness)
        #expect(deadLetters(harness) == 500)
        #expect(pauses(harness).isEmpty)
    }

    @Test("counts for the breaker of all events when it is unknown or replayed: it could not be resumed")
    func unknown() {
        let unknown = harness()
        answer(300, with: 404, more: #","campaign":"spring""#, unknown)
        #expect(unknown.engine.outage?.reason == .deadLetterBreaker)
        let replayed = harness()
        answer(300, with: 404, headers: [("herald-replays", "1")], replayed)
        #expect(replayed.engine.outage?.reason == .deadLetterBreaker)
        #expect(pauses(replayed).isEmpty)
    }

    @Test("has dead letters as usual for rejected calls under way when an operator has paused it")
    func pausedByHand() {
        let harness = harness()
        for number in 0..<300 { harness.event("u\(number)", on: EngineHarness.bulk, more: Self.autumn) }
        let called = harness.calls.count
        harness.campaign("autumn", is: .paused)
        while !harness.calls.isEmpty { harness.answer(404) }
        #expect(called > 0 && deadLetters(harness) == called)
        #expect(harness.engine.outage == nil)
    }
}
