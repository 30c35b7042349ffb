import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Events that came before")
struct EngineDuplicateTests {
    private func harness(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        EngineHarness.atomic {
            $0.duplicateWindow = .minutes(10)
            $0.duplicateSize = 100
            change(&$0)
        }
    }

    private func json(_ id: String?, _ user: String = "u", source: String? = nil) -> String {
        let parts = [id.map { #""id":"\#($0)","# } ?? "", source.map { #""source":"\#($0)","# } ?? ""]
        return #"{\#(parts.joined())"user":"\#(user)","message":"m","pns":["apns","gcm"]}"#
    }

    /// Takes an event and delivers all of its calls, so that the next one does not wait for it.
    private func deliver(
        _ harness: EngineHarness, _ text: String, on source: Int = EngineHarness.request,
        headers: [(String, String)] = []
    ) {
        harness.record(text, on: source, headers: headers)
        while !harness.calls.isEmpty { harness.answer(200) }
    }

    private func firstOutcomes(_ harness: EngineHarness) -> [Outcome?] {
        harness.produced.map(\.production).filter { $0.outcome == .duplicate }.map(\.firstOutcome)
    }

    @Test("wait for the first one, and end with its outcome for each service, without a call")
    func duplicate() {
        let harness = harness()
        harness.record(json("1"))
        harness.record(json("1"))
        #expect(harness.calls.count == 2)
        harness.answer(200)
        #expect(harness.summaries.isEmpty)
        harness.answer(200)
        #expect(harness.calls.isEmpty)
        #expect(firstOutcomes(harness) == [.delivered, .delivered])
        #expect(
            harness.takeSummaries()
                == ["result apns delivered", "result gcm delivered", "result apns duplicate", "result gcm duplicate"])
        #expect(harness.engine.counters.duplicates == 2)
        harness.pass(.milliseconds(100))
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
    }

    @Test("wait for the first one in every order", arguments: Ordering.allCases)
    func waiting(ordering: Ordering) {
        let harness = harness { $0.ordering = ordering }
        harness.record(json("1"))
        harness.record(json("1"))
        harness.record(json("1"))
        #expect(harness.calls.count == 2)
        harness.answer(200)
        harness.answer(200)
        #expect(harness.calls.isEmpty)
        #expect(firstOutcomes(harness).count == 4)
    }

    @Test("are no duplicates for a push service that the first one lacked, nor of a failed one")
    func perService() {
        let harness = harness { $0.deadLetterBreaker = BreakerRule(share: 0.5, of: 0) }
        let apns = #"{"id":"1","user":"u","message":"m","pns":["apns"]}"#
        harness.record(apns)
        harness.answer(200)
        harness.record(json("1"))
        #expect(harness.calls.map { Int($0.service) } == [1])
        harness.answer(400)
        #expect(
            harness.takeSummaries()
                == [
                    "result apns delivered", "result apns duplicate", "result gcm dead-lettered",
                    "dead gcm rejected 400",
                ])
        harness.record(json("1"))
        #expect(harness.calls.map { Int($0.service) } == [1])
        harness.answer(200)
        #expect(harness.takeSummaries() == ["result apns duplicate", "result gcm delivered"])
    }

    /// A worker's headers of an event in a retry topic.
    private func retry(_ offset: Int64, attempts: Int) -> [(String, String)] {
        [
            ("herald-attempts", "\(attempts)"), ("herald-origin", "notifications/0/\(offset)"),
            ("herald-not-before", "1"), ("herald-pns", "apns,gcm"),
        ]
    }

    @Test(
        "follow the first one into its retry topic, and learn its outcome there",
        arguments: [(200, ["result apns duplicate", "result gcm duplicate"]), (400, [])])
    func following(status: Int, expected: [String]) {
        let harness = harness {
            $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)])
            $0.deadLetterBreaker = BreakerRule(share: 0.5, of: 0)
        }
        harness.record(json("1"))
        harness.answer(503)
        harness.answer(503)
        #expect(harness.takeSummaries() == ["retry 1s apns,gcm transient 1"])
        harness.record(json("1"))
        #expect(harness.calls.isEmpty)
        #expect(harness.takeSummaries() == ["retry 1s apns,gcm blocked 0"])
        // Another worker has the retry topic, and has not seen them.
        harness.pass(.milliseconds(100))
        harness.commitEnds(.acknowledged)
        harness.reassign()
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(0, attempts: 1))
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(1, attempts: 0))
        #expect(harness.calls.count == 2)
        harness.answer(status)
        harness.answer(status)
        #expect(harness.summaries.filter { $0.contains("duplicate") } == expected)
        #expect(harness.calls.count == (expected.isEmpty ? 2 : 0))
    }

    @Test("continue with the first one into its next retry topic, and never with a later one")
    func followingOn() {
        let harness = harness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(0, attempts: 1))
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(1, attempts: 0))
        harness.answer(503)
        harness.answer(503)
        #expect(
            harness.takeSummaries() == ["retry 10s apns,gcm transient 2", "retry 10s apns,gcm kept 0"])
        // The first one returns: neither itself nor the one behind it keeps it waiting.
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(0, attempts: 1))
        #expect(harness.calls.count == 2)
    }

    @Test("are identified by source, id and user together")
    func identity() {
        let harness = harness()
        for record in [json("1"), json("2"), json("1", "v"), json("1", source: "s"), json("1", source: "t")] {
            harness.record(record)
        }
        #expect(harness.engine.counters.duplicates == 0)
        harness.record(json("1", source: "t"))
        while !harness.calls.isEmpty { harness.answer(200) }
        #expect(harness.engine.counters.duplicates == 2)
    }

    @Test("are neither events without an id of their own nor those of another partition")
    func notTold() {
        let harness = harness()
        deliver(harness, json(nil))
        deliver(harness, json(nil))
        deliver(harness, json("1"))
        deliver(harness, json("1"), on: EngineHarness.bulk)
        #expect(harness.engine.counters.duplicates == 0)
    }

    @Test("are neither replays nor this worker's own records from a retry topic")
    func repeats() {
        let harness = harness()
        deliver(harness, json("1"))
        for origin in ["notifications/0/0", "notifications/0/77"] {
            deliver(harness, json("1"), headers: [("herald-replays", "1"), ("herald-origin", origin)])
        }
        harness.record(
            json("1"), on: EngineHarness.oneSecond,
            headers: [("herald-attempts", "1"), ("herald-origin", "notifications/0/0"), ("herald-not-before", "1")])
        harness.pass(.seconds(1))
        while !harness.calls.isEmpty { harness.answer(200) }
        #expect(harness.engine.counters.duplicates == 0)
    }

    @Test("are no duplicates once the window is over, or after enough others")
    func window() {
        let harness = harness { $0.duplicateSize = 6 }
        deliver(harness, json("1"))
        harness.pass(.seconds(700))
        deliver(harness, json("1"))
        for number in 2..<5 { deliver(harness, json("\(number)")) }
        deliver(harness, json("1"))
        #expect(harness.engine.counters.duplicates == 0)
        deliver(harness, json("1"))
        #expect(harness.engine.counters.duplicates == 2)
    }

    @Test("are recognised after an assignment by the records below the committed offset")
    func history() {
        let harness = harness()
        harness.reassign()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 2)
        harness.skip(to: 0)
        harness.record(json("0"))
        harness.record(json("1"))
        #expect(harness.engine.counters.accepted == 0)
        #expect(harness.calls.isEmpty)
        harness.record(json("1"))
        #expect(harness.engine.counters.duplicates == 2)
        #expect(firstOutcomes(harness) == [nil, nil], "an earlier owner dealt with it")
        harness.pass(.seconds(1))
        #expect(harness.engine.commitPositions.map(\.offset) == [3])
    }

    @Test(
        "make no duplicate of the first one, which returns from its retry topic after an assignment",
        arguments: [1, 2])
    func firstReturns(committed: Int64) {
        let harness = harness { $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)]) }
        harness.reassign()
        harness.engine.unassigned(now: harness.now)
        // The copy came before the assignment, or comes after it.
        harness.assign(startingAt: committed)
        harness.skip(to: 0)
        harness.record(json("1"))
        harness.record(json("1"))
        #expect(harness.engine.counters.duplicates == (committed == 1 ? 2 : 0) && harness.calls.isEmpty)
        harness.record(json("1"), on: EngineHarness.oneSecond, headers: retry(0, attempts: 1))
        #expect(harness.calls.count == 2, "nobody has called it")
    }

    @Test("are no duplicates of events that failed before an assignment, for their failed push services")
    func failedBefore() {
        let harness = harness()
        harness.reassign()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 1, failed: [0: [0]])
        harness.skip(to: 0)
        for _ in 0..<2 { harness.record(#"{"id":"1","user":"u","message":"m","pns":["apns","gcm"]}"#) }
        #expect(harness.calls.map(\.service) == [0])
        harness.answer(200)
        #expect(firstOutcomes(harness) == [nil])
    }

    @Test("are no duplicates of events from before an assignment whose failures are unknown")
    func unknownFailures() {
        let harness = harness()
        var map = CompletionMap()
        map.add(2..<3)
        harness.reassign()
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: 1, metadata: map.text(committing: 1, of: .first), failed: nil)
        harness.skip(to: 0)
        for id in ["0", "1", "2", "0", "2"] { deliver(harness, json(id)) }
        #expect(harness.engine.counters.doneBefore == 2 && harness.engine.counters.accepted == 3)
        #expect(harness.engine.counters.duplicates == 0)
        // Among themselves they are recognised as usual, for both push services.
        harness.record(json("0"))
        #expect(harness.engine.counters.duplicates == 2)
    }

    @Test("are recognised by an earlier owner's events beyond the committed offset, too")
    func doneBeyond() {
        let harness = harness()
        var map = CompletionMap()
        map.add(1..<2)
        harness.reassign(metadata: map.text(committing: 0, of: .first))
        harness.record(json("0"))
        harness.record(json("1"))
        harness.record(json("1"))
        harness.answer(200)
        harness.answer(200)
        #expect(harness.engine.counters.doneBefore == 1)
        #expect(harness.engine.counters.duplicates == 2)
    }

    @Test("are not recognised by a former assignment, whose events may have been given back undone")
    func givenBack() {
        let harness = harness { $0.maxInFlight = 1 }
        harness.record(json("1"))
        harness.record(json("2"))
        harness.revoke()
        harness.answer(200)
        harness.pass(.zero)
        harness.commitEnds(.acknowledged)
        harness.reassign()
        harness.record(json("2"))
        #expect(harness.engine.counters.duplicates == 0)
    }

    @Test("are recognised only if the settings ask for it", arguments: [(0, 100), (600_000, 0)] as [(Int64, Int)])
    func off(window: Int64, size: Int) {
        let harness = harness {
            $0.duplicateWindow = .milliseconds(window)
            $0.duplicateSize = size
        }
        harness.record(json("1"))
        harness.record(json("1"))
        while !harness.calls.isEmpty { harness.answer(200) }
        #expect(harness.engine.counters.duplicates == 0)
    }
}
