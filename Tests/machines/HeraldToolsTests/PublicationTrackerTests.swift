import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldTools

@Suite("Outcomes that a publication waits for")
struct PublicationTrackerTests {
    private func publication(line: Int, offset: Int64, _ services: PushServiceSet) -> EventPublisher.Publication {
        EventPublisher.Publication(
            event: PreparedEvent(line: line, id: "e\(line)", user: "u", pushServices: services, value: []),
            place: Origin(topic: "t", partition: 0, offset: offset))
    }

    private func result(_ service: String?, _ outcome: Outcome, offset: Int64, topic: String = "t") throws
        -> NotificationResult
    {
        let pns = service.map { #""pns":"\#($0)","# } ?? ""
        let text = #"""
            {"id":"e1",\#(pns)"outcome":"\#(outcome.rawValue)","completedAt":"2026-11-21T08:40:26.123Z",
            "origin":{"topic":"\#(topic)","partition":0,"offset":\#(offset)}}
            """#
        return try NotificationResult(decoding: Array(text.utf8))
    }

    @Test("An event is complete when each of its push services has a result, whatever arrives between them")
    func complete() throws {
        var tracker = PublicationTracker(pushServices: .standard)
        #expect(tracker.isComplete)
        tracker.expect(publication(line: 1, offset: 5, [0, 1]))
        #expect(try tracker.receive(result("apns", .delivered, offset: 4)).isEmpty)
        #expect(try tracker.receive(result("apns", .delivered, offset: 5, topic: "other")).isEmpty)
        #expect(try tracker.receive(result("wns", .delivered, offset: 5)).isEmpty)
        #expect(try tracker.receive(result("unknown", .delivered, offset: 5)).isEmpty)
        let first = try tracker.receive(result("gcm", .deadLettered, offset: 5))
        #expect(first.map(\.pushService) == ["gcm"] && first.first?.result?.outcome == .deadLettered)
        // A later result for the same push service, after a replay, changes nothing.
        #expect(try tracker.receive(result("gcm", .delivered, offset: 5)).isEmpty)
        #expect(tracker.missing.map(\.pushService) == ["apns"] && !tracker.isComplete)
        #expect(try tracker.receive(result("apns", .delivered, offset: 5)).count == 1)
        #expect(tracker.isComplete && tracker.missing.isEmpty)
    }

    @Test("A result without a push service ends all of the event's")
    func whole() throws {
        var tracker = PublicationTracker(pushServices: .standard)
        tracker.expect(publication(line: 1, offset: 5, [0, 2]))
        let ended = try tracker.receive(result(nil, .deadLettered, offset: 5))
        #expect(ended.map(\.pushService) == ["apns", "wns"] && tracker.isComplete)
    }

    @Test("A duplicate counts as delivered only if the first one is known to be delivered")
    func duplicates() throws {
        func isDelivered(_ outcome: Outcome, of first: Outcome? = nil) throws -> Bool {
            var result = try result("apns", outcome, offset: 5)
            result.firstOutcome = first
            var tracker = PublicationTracker(pushServices: .standard)
            tracker.expect(publication(line: 1, offset: 5, [0]))
            return tracker.receive(result).first?.isDelivered ?? false
        }
        #expect(try isDelivered(.delivered) && isDelivered(.duplicate, of: .delivered))
        #expect(try !isDelivered(.duplicate) && !isDelivered(.duplicate, of: .expired) && !isDelivered(.expired))
    }

    @Test("Missing outcomes are listed in the order of the lines")
    func missing() {
        var tracker = PublicationTracker(pushServices: .standard)
        for line in [3, 1, 2] { tracker.expect(publication(line: line, offset: Int64(10 - line), [0, 1])) }
        #expect(tracker.missing.map(\.publication.event.line) == [1, 1, 2, 2, 3, 3])
        #expect(tracker.missing.allSatisfy { $0.result == nil })
    }

    @Test("What waits for quiet hours is known to, until a result or another retry says otherwise")
    func quietHours() throws {
        let (soon, later) = (WallTime(milliseconds: 1_000), WallTime(milliseconds: 2_000))
        func sleeps(_ offset: Int64, until end: WallTime?, replays: Int = 0) -> RetriedEvent {
            RetriedEvent(
                origin: Origin(topic: "t", partition: 0, offset: offset), replays: replays, pushServices: ["apns"],
                quietUntil: end)
        }
        var tracker = PublicationTracker(pushServices: .standard)
        tracker.expect(publication(line: 1, offset: 5, [0]))
        tracker.expect(publication(line: 2, offset: 6, [0]))
        tracker.receive(sleeps(5, until: later))
        tracker.receive(sleeps(7, until: later))
        tracker.receive(sleeps(6, until: later, replays: 1))
        #expect(!tracker.isAsleep(beyond: soon), "one has no reason to wait")
        #expect(tracker.missing.map(\.quietUntil) == [later, nil])
        tracker.receive(sleeps(6, until: later))
        #expect(tracker.isAsleep(beyond: soon) && !tracker.isAsleep(beyond: later))
        tracker.receive(sleeps(6, until: nil))
        #expect(!tracker.isAsleep(beyond: soon))
        _ = try tracker.receive(result("apns", .delivered, offset: 6))
        #expect(tracker.isAsleep(beyond: soon))
        _ = try tracker.receive(result("apns", .delivered, offset: 5))
        #expect(tracker.isComplete)
    }
}
