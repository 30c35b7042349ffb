import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Bytes in memory")
struct EngineBytesTests {
    @Test("keys, headers and unescaped texts count, and are given back")
    func everythingCounts() {
        let harness = EngineHarness()
        harness.record(
            #"{"id":"1","user":"ada","message":"\u0061\u0062","pns":["apns"]}"#,
            headers: [("big", String(repeating: "x", count: 5_000))])
        #expect(harness.engine.events.bytes > 5_003)
        #expect(harness.engine.slot(0).event.scratch.count > 0)
        harness.answer(200)
        harness.acknowledgeAll()
        #expect(harness.engine.events.bytes == 0)
        #expect(harness.engine.events.bytesByClass.allSatisfy { $0 == 0 })
    }

    @Test("a slot does not keep the buffer of one large event")
    func scratch() {
        let harness = EngineHarness()
        harness.event(
            "ada", on: EngineHarness.oneSecond,
            headers: [
                ("herald-origin", "notifications/0/1"), ("herald-pns", "apns"), ("herald-attempts", "1"),
                ("herald-history", "[" + String(repeating: "1", count: 5_000) + "]"),
            ])
        harness.pass(.seconds(1))
        #expect(harness.engine.events.slots.contains { $0.event.scratch.capacity > 5_000 })
        harness.answer(200)
        harness.acknowledgeAll()
        for slot in harness.engine.events.slots where slot.phase == .free {
            #expect(slot.event.scratch.capacity <= 1_024)
        }
    }

    @Test("records of one topic in memory do not keep another topic's waiting")
    func reserved() {
        let harness = EngineHarness { $0.maxBufferedBytes = 16_000 }
        let big = [("big", String(repeating: "x", count: 9_000))]
        harness.event("ada", on: EngineHarness.bulk, headers: big)
        harness.event("bob", on: EngineHarness.bulk, headers: big)
        var asked: Set<Int> = []
        for _ in 0..<40 { if let source = harness.engine.nextSource() { asked.insert(source) } }
        #expect(!asked.contains(EngineHarness.bulk))
        #expect(asked.isSuperset(of: [EngineHarness.request, EngineHarness.oneSecond]))
        harness.event("cyd", headers: [("big", String(repeating: "x", count: 1_000))])
        asked = []
        for _ in 0..<40 { if let source = harness.engine.nextSource() { asked.insert(source) } }
        #expect(!asked.contains(EngineHarness.request), "but no more than its share")
    }
}
