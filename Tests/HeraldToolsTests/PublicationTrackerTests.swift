import HeraldEvents
import HeraldTools
import Testing

@Suite("Outcomes that are waited for")
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

    @Test("An event is complete when each of its push services has a result, whatever comes in between")
    func complete() throws {
        var board = PublicationTracker(pushServices: .standard)
        #expect(board.isComplete)
        board.expect(publication(line: 1, offset: 5, [0, 1]))
        #expect(try board.take(result("apns", .delivered, offset: 4)).isEmpty)
        #expect(try board.take(result("apns", .delivered, offset: 5, topic: "other")).isEmpty)
        #expect(try board.take(result("wns", .delivered, offset: 5)).isEmpty)
        #expect(try board.take(result("unknown", .delivered, offset: 5)).isEmpty)
        let first = try board.take(result("gcm", .deadLettered, offset: 5))
        #expect(first.map(\.pushService) == ["gcm"] && first.first?.result?.outcome == .deadLettered)
        // A later result of the same, after a replay, changes nothing.
        #expect(try board.take(result("gcm", .delivered, offset: 5)).isEmpty)
        #expect(board.missing.map(\.pushService) == ["apns"] && !board.isComplete)
        #expect(try board.take(result("apns", .delivered, offset: 5)).count == 1)
        #expect(board.isComplete && board.missing.isEmpty)
    }

    @Test("A result without a push service ends all of the event's")
    func whole() throws {
        var board = PublicationTracker(pushServices: .standard)
        board.expect(publication(line: 1, offset: 5, [0, 2]))
        let ended = try board.take(result(nil, .deadLettered, offset: 5))
        #expect(ended.map(\.pushService) == ["apns", "wns"] && board.isComplete)
    }

    @Test("What is missing is said in the order of the lines")
    func missing() {
        var board = PublicationTracker(pushServices: .standard)
        for line in [3, 1, 2] { board.expect(publication(line: line, offset: Int64(10 - line), [0, 1])) }
        #expect(board.missing.map(\.publication.event.line) == [1, 1, 2, 2, 3, 3])
        #expect(board.missing.allSatisfy { $0.result == nil })
    }
}
