import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Settling an event")
struct EngineSettlementTests {
    @Test("gives one result for each service, and the offset counts once all are acknowledged")
    func delivered() {
        let harness = EngineHarness()
        harness.event("u", "apns,gcm")
        harness.answer(200)
        #expect(harness.summaries.isEmpty)
        harness.answer(204)
        #expect(harness.summaries == ["result apns delivered", "result gcm delivered"])
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers().isEmpty)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test(
        "splits an event whose services end differently",
        arguments: [
            (
                [200, 400, 200],
                ["result apns delivered", "result gcm dead-lettered", "dead gcm rejected 400", "result wns delivered"]
            ),
            (
                [400, 400, 404],
                [
                    "result apns dead-lettered", "dead apns,gcm rejected 400", "result gcm dead-lettered",
                    "result wns dead-lettered", "dead wns rejected 404",
                ]
            ),
            ([200, 429, 429], ["result apns delivered", "retry 1s gcm,wns throttled 1"]),
            (
                [301, 200, 429],
                [
                    "result apns dead-lettered", "dead apns rejected 301", "result gcm delivered",
                    "retry 1s wns throttled 1",
                ]
            ),
        ] as [([Int], [String])])
    func split(statuses: [Int], expected: [String]) {
        let harness = EngineHarness()
        harness.event("u", "apns,gcm,wns")
        for status in statuses { harness.answer(CallResult(status: status, retryAfter: status == 429 ? .zero : nil)) }
        #expect(harness.summaries == expected)
    }

    @Test("a record that does not decode has no data of the former event in its slot")
    func undecodableAfterCalled() {
        let harness = EngineHarness()
        harness.event("u")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.record("{")
        #expect(harness.summaries == ["dead - malformed 0", "result - dead-lettered"])
        #expect(harness.headers(at: 0)["herald-first-attempt-at"] == nil)
    }

    @Test("makes one retry record for each delay and number of calls")
    func retryGroups() {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.event("u", "apns,gcm,wns")
        harness.answer(CallResult(status: 503))
        harness.answer(CallResult(status: 503, retryAfter: .seconds(12)))
        harness.answer(CallResult(status: 500))
        // Two have the same reason; the third waits longer, for another.
        #expect(harness.summaries == ["retry 1s apns,wns transient 1", "retry 10s gcm throttled 1"])
    }

    @Test(
        "makes a dead letter and one result of an unreadable record, at once",
        arguments: [
            ("{", "malformed"), (#"{"user":"u","message":"m","pns":["fax"]}"#, "invalid"),
            (#"{"user":"u","pns":["apns"],"message":"\#(String(repeating: "x", count: 990))"}"#, "oversized"),
        ])
    func undecodable(json: String, reason: String) {
        let harness = EngineHarness()
        harness.record(json)
        #expect(harness.summaries == ["dead - \(reason) 0", "result - dead-lettered"])
        #expect(harness.calls.isEmpty)
        #expect(harness.headers(at: 0)["herald-detail"]?.isEmpty == false)
    }

    @Test("gives an expired event a result for each service and one dead letter, without a call")
    func expired() {
        let harness = EngineHarness()
        harness.event("u", "apns,wns", more: #","expiresAt":"1970-01-01T00:00:01Z""#)
        #expect(harness.summaries == ["result apns expired", "dead apns,wns expired 0", "result wns expired"])
        #expect(harness.calls.isEmpty)
        #expect(harness.result(at: 0).contains(#""detail":"its expiresAt had passed""#))
        #expect(harness.headers(at: 1)["herald-detail"] == "its expiresAt had passed")
    }

    @Test("shortens the wait for the next call by a shorter delay topic, when its delay ends after the expiry")
    func shorterDelay() {
        let harness = EngineHarness()
        // Five seconds from now; the delays are 1 s and 10 s.
        harness.event("u", more: #","expiresAt":"1970-01-12T13:46:45Z""#)
        harness.answer(503)
        harness.pass(.milliseconds(300))
        harness.answer(503)
        #expect(harness.summaries == ["retry 1s apns transient 2"])
        let first = harness.headers(at: 0)
        harness.acknowledgeAll()

        harness.event(
            "u", on: EngineHarness.oneSecond, more: #","expiresAt":"1970-01-12T13:46:45Z""#,
            headers: first.map { ($0.key, $0.value) })
        harness.pass(.seconds(1))
        harness.answer(503)
        #expect(harness.summaries == ["retry 1s apns transient 3"])
        let second = harness.headers(at: 0)
        harness.acknowledgeAll()

        harness.event(
            "u", on: EngineHarness.oneSecond, more: #","expiresAt":"1970-01-12T13:46:45Z""#,
            headers: second.map { ($0.key, $0.value) })
        harness.pass(.seconds(1))
        #expect(harness.calls.isEmpty)
        harness.pass(.milliseconds(850))
        harness.answer(CallResult(status: 503, detail: "full"))
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns attempts-exhausted 503"])
    }

    @Test("an event that no retry could reach in time says so, and has its last call's result")
    func noDelayInTime() {
        let harness = EngineHarness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.event("u", more: #","expiresAt":"1970-01-12T13:46:40.900Z""#)
        harness.answer(CallResult(status: 503, detail: "full"))
        #expect(harness.summaries == ["result apns expired", "dead apns expired 503"])
        let detail = "its next call would have come after its expiresAt; last: HTTP 503: full"
        #expect(harness.result(at: 0).contains(#""detail":"\#(detail)""#))
        #expect(harness.headers(at: 1)["herald-detail"] == detail)
    }

    @Test("counts and skips a record without a value")
    func tombstone() {
        let harness = EngineHarness()
        let intake = harness.record(nil)
        #expect(intake == .done)
        #expect(harness.engine.counters.tombstones == 1)
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
    }

    @Test("ends an event that was replayed too often")
    func replays() {
        let harness = EngineHarness()
        harness.event("u", headers: [("herald-replays", "6"), ("herald-origin", "notifications/0/1")])
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns replays-exhausted 0"])
    }

    @Test("tries quickly, then through each delay, and ends as attempts-exhausted")
    func ladder() {
        let harness = EngineHarness()
        harness.event("u")
        harness.answer(503)
        harness.pass(.milliseconds(300))
        harness.answer(503)
        #expect(harness.summaries == ["retry 1s apns transient 2"])
        let first = harness.headers(at: 0)
        #expect(first["herald-attempts"] == "2")
        harness.acknowledgeAll()

        harness.event("u", on: EngineHarness.oneSecond, headers: first.map { ($0.key, $0.value) })
        #expect(harness.calls.isEmpty)
        harness.pass(.seconds(1))
        harness.answer(503)
        #expect(harness.summaries == ["retry 10s apns transient 3"])
        let second = harness.headers(at: 0)
        harness.acknowledgeAll()

        harness.event("u", on: EngineHarness.tenSeconds, headers: second.map { ($0.key, $0.value) })
        harness.pass(.seconds(10))
        harness.answer(503)
        #expect(harness.summaries == ["result apns dead-lettered", "dead apns attempts-exhausted 503"])
        #expect(harness.headers(at: 1)["herald-attempts"] == "4")
    }

    @Test("shrinks an oversized record by its least needed parts, and never gives it up")
    func tooLarge() {
        let harness = EngineHarness {
            $0.retryDelays = ["1s"].compactMap { DelayName($0) }
            $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1)])
        }
        harness.event("u", headers: [("x-trace", "1"), ("ce_source", "s")])
        harness.answer(CallResult(status: 503, detail: "busy"))
        let id = harness.produced[0].id
        #expect(harness.headers(at: 0)["herald-history"] != nil)
        harness.fail(id, .tooLarge)
        #expect(harness.headers(at: 1)["herald-omitted"] == "history,detail")
        #expect(harness.headers(at: 1)["herald-history"] == nil && harness.headers(at: 1)["herald-detail"] == nil)
        #expect(harness.headers(at: 1)["x-trace"] == "1" && harness.headers(at: 1)["herald-pns"] == "apns")
        harness.fail(id, .tooLarge)
        #expect(harness.headers(at: 2)["herald-omitted"] == "history,detail,headers")
        #expect(harness.headers(at: 2)["x-trace"] == nil && harness.headers(at: 2)["ce_source"] == "s")
        harness.fail(id, .tooLarge)
        #expect(harness.summaries.suffix(2) == ["dead apns oversized 503", "result apns dead-lettered"])
        #expect(harness.headers(at: 3)["herald-omitted"] == nil)
        for _ in 0..<4 { harness.fail(id, .tooLarge) }
        let last = harness.produced.count - 1
        #expect(harness.headers(at: last, keyByteCount: 1_024)["herald-omitted"] == "history,detail,headers,value")
        #expect(harness.headers(at: last, keyByteCount: 1_025)["herald-omitted"] == "history,detail,headers,key,value")
        #expect(harness.takeOthers().isEmpty)
        harness.fail(id, .tooLarge)
        #expect(harness.takeOthers() == [.notice(.recordRefused(topic: "notifications.dead-letter"))])
        harness.pass(.seconds(1) + 128 * Engine.refusalSpread)
        #expect(harness.produced.count == last + 2)
        #expect(harness.engine.load.events == 1)
    }

    @Test("gives in the result the reason of a dead letter, and its user if readable")
    func detail() {
        let harness = EngineHarness()
        harness.record(#"{"id":"i","user":"u","message":"m","pns":["fax"]}"#)
        #expect(harness.result(at: 1).contains(#""id":"i","user":"u""#))
        #expect(harness.result(at: 1).contains(#""detail":"pns holds \"fax\"; allowed are apns, gcm, wns, fcm""#))
        harness.record(#"{"id":"j","user":"v","message":"#)
        #expect(harness.result(at: 3).contains(#""id":"j","user":"v""#))
        harness.record(#"{"id":"k","padding":"\#(String(repeating: "x", count: 990))"}"#)
        #expect(harness.result(at: 5).contains(#""id":"k""#) && harness.result(at: 5).contains("at most 1000"))
        harness.event("w")
        harness.answer(200)
        #expect(!harness.result(at: 6).contains("detail"))
    }

    @Test("offers a record again that the broker refused")
    func refused() {
        let harness = EngineHarness()
        harness.event("u")
        harness.answer(200)
        let id = harness.produced[0].id
        harness.fail(id, .queueFull)
        harness.pass(.milliseconds(10))
        #expect(harness.produced.count == 2)
        #expect(harness.produced[1].id == id)
    }
}
