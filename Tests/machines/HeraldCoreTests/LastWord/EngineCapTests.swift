import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Caps in the engine")
struct EngineCapTests {
    private let word = LastWord(hashSeed: 7, pushServices: .standard, maxLag: .days(1))
    private static let shop = #","source":"shop""#

    /// An engine whose bulk topic is promotional, of which a user gets two within an hour.
    private func harness(
        _ rules: [CapRule] = [CapRule(limit: 2, per: .hours(1))], isRead: Bool = true,
        _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) -> EngineHarness {
        let harness = EngineHarness {
            $0.hashSeed = 7
            $0.lastWord = word
            $0.classes = [.transactional, .promotional]
            $0.caps = rules
            change(&$0)
        }
        word.noteCurrent(asOf: harness.now.monotonic)
        if isRead { harness.engine.readCapsToEnd(0) }
        return harness
    }

    @discardableResult
    private func deliver(_ harness: EngineHarness, _ user: String = "ann", more: String = "") -> Bool {
        harness.event(user, on: EngineHarness.bulk, more: more)
        guard !harness.calls.isEmpty else { return false }
        harness.answer(200)
        return true
    }

    private func read(_ harness: EngineHarness, _ value: String?, user: String = "ann") -> Bool {
        let key = Array(user.utf8)
        guard let value = value.map({ Array($0.utf8) }) else {
            return harness.engine.readCaps(0, key: key.span.bytes, value: nil, now: harness.now)
        }
        return harness.engine.readCaps(0, key: key.span.bytes, value: value.span.bytes, now: harness.now)
    }

    @Test("suppress what is too much, until the time has slid on, and count nothing transactional")
    func limit() {
        let harness = harness()
        #expect(deliver(harness) && deliver(harness))
        harness.event("ann")
        harness.answer(200)
        #expect(!deliver(harness))
        #expect(deliver(harness, "bob"))
        #expect(
            harness.summaries == [
                "result apns delivered", "caps 0", "result apns delivered", "caps 0", "result apns delivered",
                "result apns suppressed", "result apns delivered", "caps 0",
            ])
        let next = RFC3339.text(WallTime(milliseconds: 1_000_000_000 + 3_600_000))
        #expect(
            harness.result(at: 5).contains(
                #""reason":"capped","detail":"2 of 2 promotional notifications within 1h; the next may come at \#(next)""#
            ))
        harness.pass(.hours(1))
        #expect(deliver(harness))
    }

    @Test("write what was delivered, the source only where a rule names it")
    func record() {
        let harness = harness([CapRule(source: "shop", limit: 2, per: .hours(1)), CapRule(limit: 3, per: .hours(1))])
        deliver(harness, more: Self.shop)
        harness.pass(.seconds(1))
        deliver(harness, more: #","source":"news""#)
        let value = harness.result(at: 3)
        let deliveries = CapRecord.deliveries(in: Array(value.utf8).span.bytes)
        #expect(deliveries?.map(\.source) == [nil, "shop"])
        #expect(deliveries?.map(\.at.milliseconds) == [1_000_001_000, 1_000_000_000])
        #expect(harness.key(at: 3) == "ann")
        #expect(deliver(harness, more: Self.shop))
        #expect(!deliver(harness, more: Self.shop))
        #expect(harness.result(at: 6).contains("within 1h"))
    }

    @Test("count an event of several push services once, and do not stop its own retry")
    func once() {
        let harness = harness([CapRule(limit: 1, per: .hours(1))])
        harness.event("ann", "apns,gcm", on: EngineHarness.bulk)
        harness.answer(200)
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered", "result gcm delivered", "caps 0"])
        harness.event("bob", "apns,gcm", on: EngineHarness.bulk)
        harness.answer(200)
        harness.answer(503)
        harness.pass(.seconds(1))
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns delivered", "result gcm delivered", "caps 0"])
        #expect(!deliver(harness, "bob"))
    }

    @Test("hold promotional events until what was delivered is read, and then count it")
    func restored() {
        let harness = harness(isRead: false)
        #expect(harness.engine.homePartitions == [0])
        #expect(!deliver(harness))
        harness.event("ann")
        #expect(harness.usersInFlight == ["ann"])
        harness.answer(200)
        #expect(harness.headers(at: 0)["herald-detail"] == "the caps of partition 0 are being read")
        #expect(harness.takeSummaries() == ["retry 1s apns preferences 0", "result apns delivered"])
        let at = RFC3339.text(harness.now.wall)
        #expect(read(harness, #"{"delivered":[{"at":"\#(at)","event":"0000000000000001"}]}"#))
        #expect(
            read(
                harness,
                #"{"delivered":[{"at":"\#(at)","event":"00000000000000a1"},{"at":"\#(at)","event":"1","source":"x"}],"more":1}"#
            ))
        #expect(read(harness, nil, user: "bob"))
        #expect(!read(harness, #"{"delivered":[{"at":"yesterday"}]}"#, user: "eve"))
        #expect(!read(harness, "{", user: "eve"))
        harness.engine.readCapsToEnd(0)
        #expect(!deliver(harness))
        #expect(deliver(harness, "bob") && deliver(harness, "eve"))
        // A late record of the same reading changes nothing.
        #expect(read(harness, nil))
        #expect(!deliver(harness))
        harness.acknowledgeAll()
        harness.lose()
        harness.reassign()
        #expect(!deliver(harness, "zoe"))
        #expect(harness.takeSummaries() == ["retry 1s apns preferences 0"])
    }

    @Test("let a call rest that may be one too many, until the calls under way have decided", arguments: [true, false])
    func underWay(isDelivered: Bool) {
        let harness = harness([CapRule(limit: 1, per: .hours(1))]) { $0.ordering = .none }
        harness.event("ann", on: EngineHarness.bulk)
        harness.event("ann", on: EngineHarness.bulk)
        #expect(harness.calls.count == 1)
        let waits = harness.engine.waits(of: 1, now: harness.now) { _ in ("", "") }
        #expect(waits.map(\.reason.kind) == [.preferencesBehind])
        #expect(waits.first?.reason.phrase.contains("the last that caps allow") == true)
        harness.pass(.milliseconds(100))
        #expect(harness.calls.count == 1)
        harness.answer(isDelivered ? 200 : 400)
        harness.pass(.milliseconds(100))
        #expect(harness.calls.count == (isDelivered ? 0 : 1))
        if isDelivered { #expect(harness.summaries.last == "result apns suppressed") }
    }

    @Test("have in each record what earlier ones had, in whichever order they are written again after an abort")
    func abort() {
        let harness = EngineHarness.atomic {
            $0.hashSeed = 7
            $0.lastWord = word
            $0.classes = [.transactional, .promotional]
            $0.caps = [CapRule(limit: 2, per: .hours(1))]
        }
        word.noteCurrent(asOf: harness.now.monotonic)
        harness.engine.readCapsToEnd(0)
        deliver(harness)
        deliver(harness)
        harness.pass(.milliseconds(100))
        harness.commitEnds(.abortable)
        harness.abortEnds()
        _ = harness.takeProduced()
        harness.pass(.seconds(1))
        let records = harness.produced.indices.filter { harness.summaries[$0] == "caps 0" }.map {
            harness.result(at: $0)
        }
        #expect(records.count == 2)
        for record in records { #expect(CapRecord.deliveries(in: Array(record.utf8).span.bytes)?.count == 2) }
        #expect(!deliver(harness))
    }

    @Test("come after quiet hours and opt-outs, and cost nothing without rules")
    func order() {
        let none = harness([])
        #expect(none.engine.homePartitions.isEmpty)
        #expect(deliver(none) && deliver(none) && deliver(none))
        #expect(!none.summaries.contains { $0.hasPrefix("caps") })
        let harness = harness()
        var optOut = OptOut()
        optOut.isOfPromotional = true
        deliver(harness)
        deliver(harness)
        word.set(optOut, of: "ann".utf8.span.bytes)
        #expect(!deliver(harness))
        #expect(harness.result(at: 4).contains("opted-out"))
    }
}
