import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

/// Brings an engine into each state, and compares the reason that it gives with its behaviour.
@Suite("The reasons for which events wait")
struct EngineWaitingTests {
    private typealias Kind = WaitReason.Kind

    private static func reasons(_ harness: EngineHarness, _ slot: Int32 = 0) -> [WaitReason] {
        harness.engine.waits(of: slot, now: harness.now) { ("slot \($0)", "t/0/\($0)") }.map(\.reason)
    }

    private static func kinds(_ harness: EngineHarness, _ slot: Int32 = 0) -> [Kind] {
        reasons(harness, slot).map(\.kind)
    }

    /// Expects no change before the moment that a reason names, and then the call.
    private static func expectCall(_ harness: EngineHarness, at slot: Int32 = 0, is kind: Kind) throws {
        let reason = try #require(reasons(harness, slot).first)
        #expect(reason.kind == kind)
        let until = try #require(reason.until)
        let calls = harness.calls.count
        harness.pass(.milliseconds(until.milliseconds - 1 - harness.time))
        #expect(harness.calls.count == calls, "called before \(reason)")
        harness.pass(.milliseconds(1))
        #expect(harness.calls.count == calls + 1, "not called at \(reason)")
        #expect(Self.kinds(harness, slot) == [.calling])
    }

    private static func slot(_ intake: Intake) throws -> Int32 {
        guard case .accepted(let id) = intake else { throw Missing() }
        return id.index
    }

    private struct Missing: Error {}

    @Test("A call under way is given with its beginning, and its event does not count as waiting")
    func calling() throws {
        let harness = EngineHarness()
        let slot = try Self.slot(harness.event("ann"))
        harness.pass(.milliseconds(700))
        #expect(Self.reasons(harness, slot) == [.calling(since: WallTime(milliseconds: harness.time - 700))])
        #expect(harness.engine.waitCounts(now: harness.now)[Int(Kind.calling.rawValue)] == 1)
        #expect(!Kind.calling.isWait)
    }

    @Test("Behind the user's earlier event: the first of the line, the number before it, and that one's reason")
    func behindUser() throws {
        let harness = EngineHarness()
        let slots = try (0..<3).map { _ in try Self.slot(harness.event("ann")) }
        let reason = try #require(Self.reasons(harness, slots[2]).first)
        #expect(reason.kind == .behindUser && reason.ahead == 2)
        #expect(
            reason.phrase.contains("slot \(slots[0]) (t/0/\(slots[0])) is first: apns is being called since"),
            "\(reason.phrase)")
        harness.answer(200)
        #expect(Self.kinds(harness, slots[1]) == [.calling])
        #expect(Self.kinds(harness, slots[2]) == [.behindUser])
    }

    @Test("Behind an earlier event of its partition, or a possible duplicate, where that is the order")
    func otherLines() throws {
        let partition = EngineHarness { $0.ordering = .partition }
        partition.event("ann")
        let behind = try Self.slot(partition.event("bob"))
        #expect(Self.kinds(partition, behind) == [.behindPartition])

        let none = EngineHarness {
            $0.ordering = .none
            $0.duplicateSize = 16
            $0.duplicateWindow = .minutes(1)
        }
        let text = #"{"id":"x","user":"ann","message":"m","pns":["apns"]}"#
        none.record(text)
        let same = try Self.slot(none.record(text))
        #expect(Self.kinds(none, same) == [.behindSame])
    }

    @Test("A limit of the settings, for one push service or all: the call begins at the named moment")
    func limits() throws {
        let one = EngineHarness { $0.serviceCallsPerSecond = [2] }
        one.event("ann")
        let slot = try Self.slot(one.event("bob"))
        try Self.expectCall(one, at: slot, is: .serviceLimit)

        let all = EngineHarness { $0.callsPerSecond = 2 }
        all.event("ann")
        try Self.expectCall(all, at: try Self.slot(all.event("bob")), is: .totalLimit)
    }

    @Test("A wait for a limit behind other events gives their number")
    func limitBehindOthers() throws {
        let harness = EngineHarness { $0.serviceCallsPerSecond = [2] }
        let slots = try (0..<4).map { try Self.slot(harness.event("u\($0)")) }
        let reason = try #require(Self.reasons(harness, slots[3]).first)
        #expect(reason.kind == .serviceLimit && reason.ahead == 2)
        #expect(reason.phrase.hasPrefix("waits for the limit of calls to apns:"), "\(reason.phrase)")
    }

    @Test("A pause that the backend asked for: other events wait until its end")
    func pause() throws {
        let harness = EngineHarness { $0.maxInFlight = 40 }
        // One refusal delays its own event alone.
        for number in 0..<20 { harness.event("u\(number)") }
        for _ in 0..<20 { harness.answer(CallResult(status: 429, retryAfter: .milliseconds(500))) }
        let slot = try Self.slot(harness.event("ann"))
        try Self.expectCall(harness, at: slot, is: .backendPause)
    }

    @Test("The limit of calls in flight: the end of one lets the next begin")
    func inFlight() throws {
        let harness = EngineHarness { $0.maxInFlight = 1 }
        harness.event("ann")
        let slot = try Self.slot(harness.event("bob"))
        #expect(
            Self.reasons(harness, slot) == [
                .callsInFlight(.init(calls: 1, hanging: 0, pushService: "apns", its: 1, limit: 1), until: nil)
            ])
        harness.answer(200)
        #expect(Self.kinds(harness, slot) == [.calling])
    }

    @Test("A quick retry, a notBefore and a delay end at their moments")
    func moments() throws {
        let quick = EngineHarness()
        let slot = try Self.slot(quick.event("ann"))
        quick.answer(503)
        try Self.expectCall(quick, at: slot, is: .quickRetry)

        let later = EngineHarness()
        let soon = RFC3339.text(WallTime(milliseconds: later.time + 700))
        let waits = try Self.slot(later.event("ann", more: #","notBefore":"\#(soon)""#))
        #expect(later.engine.nextEventDue == later.now.monotonic.advanced(by: .milliseconds(700)))
        try Self.expectCall(later, at: waits, is: .notBefore)
        #expect(later.engine.nextEventDue == nil)

        let retry = EngineHarness()
        let head = try Self.slot(retry.event("ann", on: EngineHarness.oneSecond))
        try Self.expectCall(retry, at: head, is: .retryDue)
    }

    @Test("An outage: since when, and when it is probed next")
    func outage() throws {
        let harness = EngineHarness()
        harness.event("ann")
        harness.answer(CallResult(failure: .tls))
        let began = WallTime(milliseconds: harness.time)
        let slot = try Self.slot(harness.event("bob"))
        let reason = try #require(Self.reasons(harness, slot).first)
        let probe = try #require(reason.until)
        #expect(reason == .outage(cause: "tls", since: began, nextProbe: probe))
        let calls = harness.calls.count
        harness.pass(.milliseconds(probe.milliseconds - 1 - harness.time))
        #expect(harness.calls.count == calls)
        harness.pass(.milliseconds(1))
        #expect(harness.calls.count == calls + 1)
        harness.answer(200)
        #expect([.calling] == Self.kinds(harness, slot) || [.unacknowledged] == Self.kinds(harness, slot))
    }

    @Test("Refused once: the renewal; refused twice: others' answers, until a moment")
    func credentials() throws {
        let harness = EngineHarness()
        harness.renewsAtOnce = false
        let slot = try Self.slot(harness.event("ann"))
        harness.answer(401)
        #expect(Self.kinds(harness, slot) == [.credentialsRenewal])
        harness.credentialsRenewed()
        harness.answer(401)
        let reason = try #require(Self.reasons(harness, slot).first)
        #expect(reason.kind == .credentialsDoubt)
        harness.pass(.milliseconds(try #require(reason.until).milliseconds - harness.time))
        #expect([.outage, .calling].contains(try #require(Self.kinds(harness, slot).first)))
    }

    @Test("Unrecorded outcomes hold calls, and so does a standstill, until a commit")
    func unrecorded() throws {
        let harness = EngineHarness { $0.maxUnrecorded = .seconds(1) }
        harness.settle()
        let since = WallTime(milliseconds: harness.time)
        harness.pass(.seconds(1))
        let slot = try Self.slot(harness.event("ann"))
        #expect(Self.reasons(harness, slot) == [.unrecordedOutcomes(since: since)])
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        harness.commitEnds(.acknowledged)
        #expect(Self.kinds(harness, slot) == [.calling])

        harness.engine.stoodStill(for: .seconds(5))
        let other = try Self.slot(harness.event("bob"))
        #expect(Self.kinds(harness, other) == [.stoodStill])
    }

    @Test("A paused campaign's event without retry topics waits in memory, until its next check")
    func campaign() throws {
        let harness = EngineHarness {
            $0.retryDelays = []
            $0.retry = RetryPolicy(immediate: 1, delays: [])
        }
        harness.campaign("c", is: .paused, for: .milliseconds(500))
        let slot = try Self.slot(harness.event("ann", more: #","campaign":"c""#))
        let reason = try #require(Self.reasons(harness, slot).first)
        #expect(
            reason
                == .campaignPaused(
                    since: WallTime(milliseconds: harness.time - 500),
                    until: WallTime(milliseconds: harness.time + 1_000)))
        harness.campaign("c", is: .running)
        try Self.expectCall(harness, at: slot, is: .quickRetry)
    }

    @Test("Each push service has its own reason, and a shared one is given once")
    func services() throws {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        let slot = try Self.slot(harness.event("ann", "apns,gcm"))
        let both = harness.engine.waits(of: slot, now: harness.now) { _ in ("", "") }
        #expect(both.map(\.services.count) == [2] && both.map(\.reason.kind) == [.calling])
        harness.answer(200)
        #expect(Self.kinds(harness, slot) == [.otherPushServices, .calling])
    }

    @Test("A settled event waits for the broker's acknowledgement, or for the transaction and its end")
    func recording() throws {
        let plain = EngineHarness()
        let slot = try Self.slot(plain.event("ann"))
        plain.answer(200)
        #expect(Self.reasons(plain, slot) == [.unacknowledged(until: nil)])
        plain.fail(try #require(plain.produced.first).id, .other)
        let again = WallTime(milliseconds: plain.time + Engine.productionPause.count)
        #expect(Self.reasons(plain, slot) == [.unacknowledged(until: again)])

        let atomic = EngineHarness.atomic()
        let member = try Self.slot(atomic.event("ann"))
        atomic.answer(200)
        let open = try #require(Self.reasons(atomic, member).first)
        #expect(open.kind == .transaction)
        atomic.pass(.milliseconds(try #require(open.until).milliseconds - atomic.time))
        #expect(Self.kinds(atomic, member) == [.transaction] || Self.kinds(atomic, member) == [.transactionEnds])
        atomic.pass(.milliseconds(200))
        #expect(Self.kinds(atomic, member) == [.transactionEnds])
        atomic.producerLost()
        #expect(Self.kinds(atomic, member) == [.producer])
    }

    @Test("A record that the broker refuses alone is retried at the named moment")
    func refused() throws {
        let harness = EngineHarness.atomic()
        let slot = try Self.slot(harness.event("ann"))
        harness.answer(200)
        harness.pass(.milliseconds(200))
        let id = try #require(harness.produced.first).id
        harness.fail(id, .doesNotFit)
        #expect(Self.kinds(harness, slot) == [.recordRefused])
    }

    @Test("During a revocation, uncalled services wait for the calls under way")
    func stopping() throws {
        let harness = EngineHarness { $0.maxInFlight = 1 }
        let slot = try Self.slot(harness.event("ann", "apns,gcm"))
        harness.revoke()
        let reasons = Self.reasons(harness, slot)
        #expect(
            reasons.map(\.kind) == [.calling, .stopping]
                && reasons.last?.until == WallTime(milliseconds: harness.time + 10_000))
    }

    @Test("The reasons' counts are those of the events in memory")
    func counts() throws {
        let harness = EngineHarness { $0.serviceCallsPerSecond = [1] }
        for number in 0..<6 { harness.event("u\(number % 3)") }
        let counts = harness.engine.waitCounts(now: harness.now)
        #expect(counts.reduce(0, +) == harness.engine.load.events)
        #expect(counts[Int(Kind.behindUser.rawValue)] == 3)
        #expect(counts[Int(Kind.serviceLimit.rawValue)] == 2)
        #expect(counts[Int(Kind.calling.rawValue)] == 1)
    }
}
