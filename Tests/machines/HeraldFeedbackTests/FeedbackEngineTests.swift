import HeraldCore
import HeraldEvents
import HeraldHub
import HeraldText
import HeraldTime
import Testing

@testable import HeraldFeedback

@Suite("The queries about a hub's messages")
struct FeedbackEngineTests {
    private static let identity = PartitionIdentity(cluster: "c", topic: "notifications.results", partition: 0)
    private static let wall = WallTime(milliseconds: 1_795_250_426_000)

    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func engine(_ change: (inout FeedbackEngine.Configuration) -> Void = { _ in }) -> FeedbackEngine {
        var configuration = FeedbackEngine.Configuration()
        configuration.refreshInterval = .hours(1)
        change(&configuration)
        var engine = FeedbackEngine(configuration, now: at(0))
        engine.begin(0, at: 0, identity: Self.identity)
        return engine
    }

    private func result(_ backendID: String?, outcome: String = "delivered", sentAt: String = "2026-11-21T08:40:26Z")
        throws -> NotificationResult
    {
        let member = backendID.map { "\"backendId\":\"\($0)\"," } ?? ""
        return try NotificationResult(
            decoding: Array(
                """
                {"id":"e","pns":"apns","user":"ann","outcome":"\(outcome)",\(member)"completedAt":"\(sentAt)",\
                "origin":{"topic":"notifications","partition":0,"offset":7}}
                """.utf8))
    }

    private func take(_ result: NotificationResult?, _ offset: Int64, _ engine: inout FeedbackEngine, now: Int64 = 0) {
        engine.take(
            result, byteCount: 300, partition: 0, offset: offset, now: at(now),
            wall: Self.wall.advanced(by: .milliseconds(now)))
    }

    private func answer(
        _ ask: FeedbackEngine.Ask?, _ answer: MessageAnswer, _ engine: inout FeedbackEngine, _ now: Int64
    ) throws {
        let ask = try #require(ask)
        engine.answered(ask.token, answer, now: at(now), wall: Self.wall.advanced(by: .milliseconds(now)))
    }

    private func details(_ state: String, _ outcomes: [String: Int] = [:]) -> MessageAnswer {
        .details(MessageDetails(state: MessageDetails.State(state), outcomes: outcomes))
    }

    @Test("A message is queried after five seconds, and its feedback and offset leave together")
    func usual() throws {
        var engine = engine()
        take(try result("NH-1"), 0, &engine)
        #expect(engine.nextAsk(now: at(4_999)) == nil && engine.nextMoment == at(5_000))
        let ask = engine.nextAsk(now: at(5_000))
        #expect(ask?.backendID == "NH-1" && engine.nextAsk(now: at(5_000)) == nil)
        #expect(engine.takeBatch(now: at(5_000)) == nil)
        try answer(ask, details("Completed", ["Success": 2, "BadChannel": 1]), &engine, 5_100)
        let taken = engine.takeBatch(now: at(5_100))
        let batch = try #require(taken)
        let feedback = try #require(batch.feedback.first)
        #expect(feedback.conclusion == .final && feedback.state == "Completed" && feedback.reached == 2)
        #expect(feedback.user == "ann" && feedback.checkedAt == Self.wall.advanced(by: .milliseconds(5_100)))
        #expect(batch.positions == [.init(partition: 0, offset: 1, metadata: "")])
        #expect(engine.held == 1 && engine.takeBatch(now: at(9_000)) == nil)
        engine.committed()
        #expect(engine.held == 0 && engine.counts.recorded == [.final: 1] && engine.counts.asked == 1)
    }

    @Test("Records that are not delivered messages of a hub only advance the offset")
    func passed() throws {
        var engine = engine()
        take(try result(nil), 0, &engine)
        take(try result("NH-1", outcome: "duplicate"), 1, &engine)
        take(nil, 2, &engine)
        #expect(engine.held == 0 && engine.takeBatch(now: at(100)) == nil)
        #expect(engine.takeBatch(now: at(5_000))?.positions == [.init(partition: 0, offset: 3, metadata: "")])
    }

    @Test("An old message is queried at once, and once: then it is too old, or unknown")
    func old() throws {
        let cases: [(MessageAnswer, NotificationFeedback.Conclusion)] = [
            (details("Processing"), .tooOld), (.notKnown, .unknown),
        ]
        for (reply, conclusion) in cases {
            var engine = engine()
            take(try result("NH-1", sentAt: "2026-11-20T00:00:00Z"), 0, &engine)
            try answer(engine.nextAsk(now: at(0)), reply, &engine, 10)
            #expect(engine.takeBatch(now: at(1_000))?.feedback.map(\.conclusion) == [conclusion])
        }
    }

    @Test("An unfinished message is queried at growing intervals, for the last time when it is 30 minutes old")
    func pauses() throws {
        var engine = engine()
        take(try result("NH-1"), 0, &engine)
        var moments: [Int64] = []
        while engine.counts.waiting > 0 {
            let now = try #require(engine.nextMoment)
            moments.append(now.nanoseconds / 1_000_000_000)
            try answer(
                engine.nextAsk(now: now), moments.count == 2 ? details("Enqueued") : .notKnown, &engine,
                now.nanoseconds / 1_000_000)
        }
        #expect(moments == [5, 15, 35, 75, 155, 315, 615, 915, 1_215, 1_515, 1_800])
        // The hub knew it once.
        let batch = engine.takeBatch(now: at(2_000_000))
        let feedback = try #require(batch?.feedback.first)
        #expect(feedback.conclusion == .tooOld && feedback.state == "Enqueued")
    }

    @Test("A moment in the future makes no message wait for ever")
    func future() throws {
        var engine = engine()
        take(try result("NH-1", sentAt: "2030-01-01T00:00:00Z"), 0, &engine)
        try answer(engine.nextAsk(now: at(5_000)), .notKnown, &engine, 1_800_000)
        #expect(engine.takeBatch(now: at(1_800_000))?.feedback.map(\.conclusion) == [.unknown])
    }

    @Test("A busy hub is left alone as long as it asks, or longer each time, and then probed with one query")
    func busy() throws {
        var engine = engine()
        for offset in 0..<3 { take(try result("NH-\(offset)"), Int64(offset), &engine) }
        let first = engine.nextAsk(now: at(5_000))
        let second = engine.nextAsk(now: at(5_000))
        try answer(first, .unavailable(reason: "HTTP 429", retryAfter: .seconds(3)), &engine, 5_100)
        #expect(engine.nextAsk(now: at(8_099)) == nil)
        // Both were under way: they count as one refusal.
        try answer(second, .unavailable(reason: "HTTP 503", retryAfter: nil), &engine, 5_200)
        let probe = engine.nextAsk(now: at(8_100))
        #expect(probe != nil && engine.nextAsk(now: at(8_100)) == nil && engine.nextMoment == at(3_600_000))
        try answer(probe, .unavailable(reason: "HTTP 503", retryAfter: nil), &engine, 8_200)
        #expect(engine.nextAsk(now: at(10_199)) == nil)
        let again = engine.nextAsk(now: at(10_200))
        try answer(again, details("Completed"), &engine, 10_300)
        #expect(engine.nextAsk(now: at(10_300)) != nil && engine.nextAsk(now: at(10_300)) != nil)
    }

    @Test("At its memory limit the engine takes no messages until feedback is durable")
    func full() throws {
        var engine = engine { $0.messageLimit = 2 }
        for offset in 0..<2 {
            #expect(engine.mayTake(0, Int64(offset)))
            take(try result("NH-\(offset)"), Int64(offset), &engine)
        }
        #expect(!engine.mayTake(0, 2))
        try answer(engine.nextAsk(now: at(5_000)), details("Completed"), &engine, 5_000)
        #expect(engine.takeBatch(now: at(5_000)) != nil && !engine.mayTake(0, 2))
        engine.committed()
        #expect(engine.mayTake(0, 2))
        var small = self.engine { $0.byteLimit = 300 }
        take(try result("NH-1"), 0, &small)
        #expect(!small.mayTake(0, 1))
    }

    @Test("Offsets are committed after a while, and a stop waits for nothing")
    func refresh() throws {
        var engine = engine()
        take(nil, 0, &engine)
        #expect(engine.takeBatch(now: at(1), isLast: true)?.positions.count == 1)
        engine.committed()
        #expect(engine.takeBatch(now: at(2), isLast: true) == nil)
        #expect(engine.nextMoment == at(3_600_000) && engine.takeBatch(now: at(3_599_999)) == nil)
        #expect(engine.takeBatch(now: at(3_600_000))?.positions == [.init(partition: 0, offset: 1, metadata: "")])
    }

    @Test("Messages that an earlier follower has recorded beyond the offset are not queried again")
    func goesOn() throws {
        var first = engine()
        for offset in 0..<3 { take(try result("NH-\(offset)"), Int64(offset), &first) }
        let asks = (0..<3).map { _ in first.nextAsk(now: at(5_000)) }
        // All are due at once, in any order.
        let middle = asks.compactMap(\.self).first { $0.backendID == "NH-1" }
        try answer(middle, details("Completed"), &first, 5_000)
        let batch = first.takeBatch(now: at(5_000))
        let position = try #require(batch?.positions.first)
        #expect(position.offset == 0 && !position.metadata.isEmpty)
        var second = FeedbackEngine(FeedbackEngine.Configuration(), now: at(6_000))
        let map = try #require(CompletionMap(text: position.metadata, committed: 0, of: Self.identity))
        second.begin(0, at: 0, done: map, identity: Self.identity)
        for offset in 0..<3 { take(try result("NH-\(offset)"), Int64(offset), &second, now: 6_000) }
        let again = [second.nextAsk(now: at(6_000)), second.nextAsk(now: at(6_000)), second.nextAsk(now: at(6_000))]
        #expect(Set(again.compactMap { $0?.backendID }) == ["NH-0", "NH-2"])
    }
}

extension FeedbackEngine {
    /// The moment of its next query or batch.
    fileprivate var nextMoment: MonotonicTime? { [nextAskMoment, nextBatchMoment].compactMap { $0 }.min() }
}
