import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Retries whose delay's topic refuses them")
struct EngineDetourTests {
    private static let policy = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)])

    private func atomic(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        EngineHarness.atomic {
            $0.retry = Self.policy
            $0.maxInFlight = 100
            change(&$0)
        }
    }

    /// Plays the broker until the time is over: it refuses a transaction when one of its records is among `culprits`,
    /// and each of those.
    ///
    /// - Returns: the records in the order of their commits, and the number of aborts.
    private func play(
        _ harness: EngineHarness, for time: Int64, by failure: ProductionFailure = .tooLarge,
        culprits: (Production) -> Bool
    ) -> (written: [String], aborts: Int) {
        let end = harness.time + time
        var (written, aborts): ([String], Int) = ([], 0)
        while harness.time < end {
            if harness.others.contains(where: { if case .commit = $0 { true } else { false } }) {
                let refused = harness.produced.filter { culprits($0.production) }.map(\.id)
                let summaries = harness.takeSummaries()
                for record in refused { harness.fail(record, failure) }
                if refused.isEmpty { written += summaries }
                harness.commitEnds(refused.isEmpty ? .acknowledged : .abortable)
            } else if harness.others.contains(.abortTransaction) {
                aborts += 1
                _ = harness.takeProduced()
                harness.abortEnds()
            } else {
                _ = harness.takeOthers()
                harness.pass(.milliseconds(10))
            }
        }
        return (written, aborts)
    }

    private func isRetry(_ production: Production, by delay: Int? = nil) -> Bool {
        guard case .copy(let copy) = production.content, case .retry(let its, _, _) = copy.destination else {
            return false
        }
        return delay == nil || its == delay
    }

    private func fail(_ harness: EngineHarness, _ users: Int) {
        for user in 0..<users { harness.event("bad-\(harness.time)-\(user)") }
        while !harness.calls.isEmpty { harness.answer(503) }
    }

    @Test("the shortest delay's go to the next longer one's topic, with one abort, and come when they are due")
    func longer() throws {
        let harness = atomic()
        fail(harness, 20)
        harness.settle(5)
        let (written, aborts) = play(harness, for: 1_000) { isRetry($0, by: 0) }
        #expect(written.count { $0 == "retry 10s apns transient 1" } == 20)
        #expect(written.count { $0 == "result apns delivered" } == 5)
        #expect(aborts == 1 && harness.engine.load == (0, 0, 0))
        let detour = try #require(harness.engine.detours(now: harness.now.monotonic).first)
        #expect(detour.topic == "notifications.retry.1s" && detour.instead == "notifications.retry.10s")
        #expect(detour.retries == 20)
        #expect(harness.engine.refusingTopic == nil && harness.engine.refusedEvents.isEmpty)

        // The record says itself when it is due, whichever topic it waits in.
        let due = harness.time + 1_000
        harness.event(
            "late", on: EngineHarness.tenSeconds,
            headers: [
                ("herald-attempts", "1"), ("herald-not-before", "\(due)"), ("herald-reason", "transient"),
                ("herald-pns", "apns"),
            ])
        harness.pass(.milliseconds(990))
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(10))
        #expect(harness.calls.count == 1)
    }

    @Test("a longer delay's go to the next shorter one's topic, where nothing comes late")
    func shorter() {
        let harness = atomic {
            $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10), .seconds(100)])
        }
        harness.event("u")
        harness.answer(CallResult(status: 503, retryAfter: .seconds(10)))
        let (written, _) = play(harness, for: 1_000) { isRetry($0, by: 1) }
        #expect(written == ["retry 1s apns throttled 1"])
    }

    @Test("calls go on meanwhile, and the topic is tried at 2, 4, 8 … 60 s")
    func callsGoOn() {
        let harness = atomic { $0.maxUnrecorded = .seconds(1) }
        var (aborts, made): ([Int64], Int) = ([], 0)
        let begun = harness.time
        while harness.time < begun + 130_000 {
            fail(harness, 3)
            harness.event("well-\(harness.time)")
            made += harness.calls.count
            while !harness.calls.isEmpty { harness.answer(200) }
            let before = harness.time
            if play(harness, for: 500, culprits: { isRetry($0, by: 0) }).aborts > 0 { aborts.append(before - begun) }
        }
        #expect(made == 260, "each of them was called")
        #expect(aborts.count <= 7, "\(aborts)")
        #expect(harness.engine.refusedEvents.isEmpty && !harness.engine.detours(now: harness.now.monotonic).isEmpty)

        // It takes records again.
        for _ in 0..<140 {
            fail(harness, 3)
            harness.settle(3)
            _ = play(harness, for: 500) { _ in false }
        }
        fail(harness, 1)
        #expect(play(harness, for: 500) { _ in false }.written == ["retry 1s apns transient 1"])
        #expect(harness.engine.detours(now: harness.now.monotonic).isEmpty)
    }

    @Test("when no delay's topic takes any, that is named, calls are held, and all is recorded after a repair")
    func all() {
        let harness = atomic()
        fail(harness, 40)
        _ = play(harness, for: 20_000, by: .refused) { isRetry($0) }
        #expect(harness.engine.refusingTopic?.name.hasPrefix("notifications.retry.") == true)
        for number in 0..<20 { harness.event("late-\(number)") }
        #expect(harness.calls.count <= 1)
        while !harness.calls.isEmpty { harness.answer(200) }
        _ = play(harness, for: 10_000) { _ in false }
        #expect(harness.engine.refusingTopic == nil)
        while !harness.calls.isEmpty { harness.answer(200) }
        _ = play(harness, for: 70_000) { _ in false }
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("an event that no topic takes is found, ends as a dead letter, and takes others along a few times")
    func culprit() {
        let harness = atomic()
        fail(harness, 1)
        let culprit = harness.time
        harness.pass(.milliseconds(1))
        fail(harness, 20)
        harness.settle(5)
        let isCulprit = { (production: Production) in
            isRetry(production) && harness.user(CallToken(slot: production.slot, service: 0)) == "bad-\(culprit)-0"
        }
        let (written, aborts) = play(harness, for: 5_000, culprits: isCulprit)
        #expect(written.count { $0.hasPrefix("retry") } == 20)
        #expect(written.contains("dead apns oversized 503"))
        #expect(aborts <= 2 + 5 + 6, "\(aborts)")
        #expect(harness.engine.load == (0, 0, 0))
        // The topics are used as before.
        harness.pass(.seconds(70))
        fail(harness, 1)
        #expect(play(harness, for: 500) { _ in false }.written == ["retry 1s apns transient 1"])
    }

    @Test("without transactions a refused retry is written to the other topic at once")
    func plain() {
        let harness = EngineHarness {
            $0.retry = Self.policy
            $0.maxInFlight = 100
        }
        fail(harness, 5)
        for record in harness.takeProduced() { harness.fail(record, .tooLarge) }
        #expect(harness.summaries == Array(repeating: "retry 10s apns transient 1", count: 5))
        harness.acknowledgeAll()
        fail(harness, 1)
        #expect(harness.takeSummaries() == ["retry 10s apns transient 1"])
        harness.pass(.seconds(2))
        fail(harness, 1)
        #expect(harness.summaries == ["retry 1s apns transient 1"])
        harness.acknowledgeAll()
        #expect(harness.engine.refusedEvents.isEmpty)
    }

    private func harnessWithoutTransactions() -> EngineHarness {
        EngineHarness {
            $0.retry = Self.policy
            $0.maxInFlight = 100
        }
    }

    @Test("one that is known not to fit its delay's topic goes by way of another's, whole")
    func known() throws {
        let harness = harnessWithoutTransactions()
        fail(harness, 1)
        var records: [String] = []
        while let record = harness.produced.first(where: { isRetry($0.production, by: 0) }) {
            _ = harness.takeProduced()
            harness.fail(record.id, .doesNotFit)
            records += harness.summaries
        }
        #expect(records.last == "retry 10s apns transient 1")
        #expect(harness.headers(at: harness.produced.count - 1)["herald-omitted"] == nil)
        // Other records fit: the topic is used as before.
        fail(harness, 1)
        #expect(harness.summaries.last == "retry 1s apns transient 1")
        #expect(harness.engine.detours(now: harness.now.monotonic).isEmpty)
    }

    @Test("one that fits a single topic goes there, though that one refuses records for a while")
    func knownAndAvoided() throws {
        let harness = harnessWithoutTransactions()
        // The topic of 10 s is avoided.
        harness.event("u")
        harness.answer(CallResult(status: 503, retryAfter: .seconds(10)))
        let avoided = try #require(harness.produced.first(where: { isRetry($0.production, by: 1) })).id
        harness.fail(avoided, .tooLarge)
        _ = harness.takeProduced()
        fail(harness, 1)
        for _ in 0..<3 {
            let record = try #require(harness.produced.first(where: { isRetry($0.production, by: 0) })).id
            _ = harness.takeProduced()
            harness.fail(record, .doesNotFit)
        }
        #expect(harness.summaries == ["retry 10s apns transient 1"])
    }

    @Test("one that no delay's topic has room for becomes a dead letter, which says whose limits to raise")
    func nowhere() throws {
        let harness = harnessWithoutTransactions()
        fail(harness, 1)
        while let record = harness.produced.first(where: { isRetry($0.production) }) {
            _ = harness.takeProduced()
            harness.fail(record.id, .doesNotFit)
        }
        #expect(harness.summaries == ["dead apns oversized 503", "result apns dead-lettered"])
        let detail = try #require(harness.headers(at: 0)["herald-detail"])
        #expect(UnfitRetry.topics(in: detail) == "notifications.retry.1s, notifications.retry.10s")
    }

    @Test("the retries of a topic that is missing go to another one, with one abort, until it is there")
    func missing() {
        let harness = atomic()
        fail(harness, 20)
        harness.settle(5)
        let (written, aborts) = play(harness, for: 1_000, by: .topicMissing) { isRetry($0, by: 0) }
        #expect(written.count { $0 == "retry 10s apns transient 1" } == 20)
        #expect(written.count { $0 == "result apns delivered" } == 5)
        #expect(aborts == 1 && harness.engine.refusedEvents.isEmpty)
        // A topic that refuses records would be tried again by now.
        harness.pass(.minutes(5))
        fail(harness, 1)
        #expect(play(harness, for: 500) { _ in false }.written == ["retry 10s apns transient 1"])
        #expect(harness.engine.detours(now: harness.now.monotonic).first?.topic == "notifications.retry.1s")

        harness.engine.use(missingTopics: ["notifications.results"], now: harness.now)
        fail(harness, 1)
        #expect(play(harness, for: 500) { _ in false }.written == ["retry 1s apns transient 1"])
        #expect(harness.engine.detours(now: harness.now.monotonic).isEmpty)
    }

    @Test("a commit does not wait for records whose topic is found to be missing")
    func missingUnderWay() throws {
        let harness = atomic()
        fail(harness, 1)
        while !harness.others.contains(where: { if case .commit = $0 { true } else { false } }) {
            harness.pass(.milliseconds(10))
        }
        _ = harness.takeProduced()
        harness.engine.topicIsMissing("notifications.retry.1s", now: harness.now)
        harness.collect()
        // Once is enough.
        harness.engine.use(missingTopics: ["notifications.retry.1s"], now: harness.now)
        harness.collect()
        #expect(harness.others.count { $0 == .giveUpRecords } == 1)
        harness.commitEnds(.abortable)
        let (written, aborts) = play(harness, for: 2_000) { isRetry($0, by: 0) }
        #expect(written == ["retry 10s apns transient 1"] && aborts == 1, "\(written) \(aborts)")
    }

    @Test("a duplicate follows an event to the topic that it went to")
    func duplicate() {
        let harness = atomic {
            $0.duplicateWindow = .minutes(10)
            $0.duplicateSize = 100
        }
        let event = #"{"id":"x","user":"u","message":"m","pns":["apns"]}"#
        harness.record(event)
        harness.answer(503)
        _ = play(harness, for: 1_000) { isRetry($0, by: 0) }
        harness.record(event)
        #expect(play(harness, for: 1_000) { isRetry($0, by: 0) }.written == ["retry 10s apns blocked 0"])
    }
}
