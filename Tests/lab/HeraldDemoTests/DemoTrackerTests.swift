import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldDemo

@Suite("The demo's tracker")
struct DemoTrackerTests {
    @Test("A record's facts wait until its request record has been read")
    func early() throws {
        var tracker = DemoTracker()
        tracker.published(DemoEvent(DemoScript.scenes[9], number: 0, now: WallTime(milliseconds: 0)))
        let note = RetryNote(
            delay: "1s", pushServices: [], attempts: 0, dueAt: WallTime(milliseconds: 0), reason: .transient)
        tracker.add(.retry(note), origin: PlayedTracker.origin(0))
        #expect(tracker.strayFactCount == 1)
        tracker.placed(0, at: PlayedTracker.origin(0))
        #expect(tracker.strayFactCount == 0)
    }

    @Test("An event is in progress until each of its push services, or the whole event, has a result")
    func settled() throws {
        var played = try PlayedTracker([DemoScript.scenes[0]], except: [0])
        #expect(played.tracker.openCount == 2)
        try played.result(0, .delivered("apns"))
        try played.result(0, .delivered("apns"))
        #expect(played.tracker.openCount == 1)
        #expect(!played.tracker.isSettled)
        try played.result(0, .delivered("gcm"))
        #expect(played.tracker.isSettled)

        var unreadable = try PlayedTracker([DemoScript.scenes[0]], except: [0])
        try unreadable.result(0, .unreadable(.invalid))
        #expect(unreadable.tracker.isSettled)
    }

    @Test("A state goes from published through calls and retry topics to the result")
    func states() throws {
        var played = try PlayedTracker([DemoScript.scenes[0]], except: [0])
        func state() -> DeliveryState { played.tracker.entries[0].state("apns") }
        #expect(state() == .published)
        played.call(0, "apns", status: 503)
        #expect(state() == .called(lastStatus: 503))
        played.retry(0, "apns", attempts: 1)
        guard case .waiting(let note) = state() else {
            Issue.record("it waits in a retry topic")
            return
        }
        #expect(note.delay == "3s")
        played.call(0, "apns", status: nil)
        #expect(state() == .called(lastStatus: nil))
        try played.result(0, .delivered("apns"))
        guard case .settled(let result) = state() else {
            Issue.record("it has its result")
            return
        }
        #expect(result.outcome == .delivered)
        #expect(played.tracker.entries[0].state("gcm") == .published)
    }

    @Test("A repeated call is not counted again, and one with an unknown key is a stray")
    func calls() throws {
        var played = try PlayedTracker([DemoScript.scenes[0]], except: [0])
        played.call(0, "apns")
        played.call(key: nil)
        played.call(key: "demo-0:wns")
        played.call(key: "demo-9:apns")
        #expect(played.tracker.entries[0].callCount("apns") == 1)
        #expect(played.tracker.strayCallCount == 3)
    }

    @Test("Retry headers are read; without a due time or with an unknown reason there is no note")
    func notes() {
        func note(_ headers: [(String, String)]) -> RetryNote? {
            var list = HeaderList()
            for header in headers { list.append(header.0, header.1) }
            return RetryNote(delay: "1s", headers: list)
        }
        let good = [
            ("herald-pns", "apns,gcm"), ("herald-not-before", "1500"), ("herald-reason", "throttled"),
            ("herald-attempts", "2"), ("herald-status", "429"),
        ]
        #expect(
            note(good)
                == RetryNote(
                    delay: "1s", pushServices: ["apns", "gcm"], attempts: 2, dueAt: WallTime(milliseconds: 1_500),
                    reason: .throttled, status: 429))
        #expect(note(good.filter { $0.0 != "herald-not-before" }) == nil)
        #expect(note(good + [("herald-reason", "bored")]) == nil)
    }
}
