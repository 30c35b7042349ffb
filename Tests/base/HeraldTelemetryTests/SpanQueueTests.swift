import HeraldBytes
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldTelemetry

@Suite("The queue of spans")
struct SpanQueueTests {
    private static func spans(_ count: Int) -> [TraceSpan] {
        (0..<count).map { number in
            TraceSpan(
                TraceContext(traceID: TraceID(high: 1, low: 1), spanID: UInt64(number + 1), isSampled: true),
                parent: nil, name: "n", kind: .client, startNanoseconds: 0, endNanoseconds: 0, attributes: [])
        }
    }

    private static func offer(_ count: Int, to queue: SpanQueue, alreadyDropped: Int = 0) {
        var spans = spans(count)
        var dropped = alreadyDropped
        queue.offer(&spans, alreadyDropped: &dropped)
        #expect(spans.isEmpty && dropped == 0)
    }

    @Test("It never exceeds its limit; further spans are dropped and counted, together with earlier drops")
    func bound() throws {
        let queue = try SpanQueue()
        Self.offer(8_000, to: queue)
        Self.offer(200, to: queue, alreadyDropped: 7)
        #expect(queue.counts.dropped == 8 + 7)
        let sizes = (0..<17).map { _ in queue.next(within: .zero)?.count }
        #expect(sizes == Array(repeating: 512, count: 16) + [0])
    }

    @Test("Spans leave in their order, in full batches or after the interval")
    func order() throws {
        let queue = try SpanQueue()
        Self.offer(600, to: queue)
        #expect(queue.next(within: .seconds(3_600))?.map(\.context.spanID) == (1...512).map { UInt64($0) })
        #expect(queue.next(within: .milliseconds(1))?.count == 88)
        #expect(queue.next(within: .milliseconds(1)) == [])
    }

    @Test("A closed queue takes no more spans, returns the present ones at once, and then ends")
    func closing() throws {
        let queue = try SpanQueue()
        Self.offer(3, to: queue)
        queue.close(deadline: SystemClock.monotonic())
        Self.offer(2, to: queue)
        #expect(queue.next(within: .seconds(3_600))?.count == 3)
        #expect(queue.next(within: .seconds(3_600)) == nil)
        #expect(queue.counts.dropped == 2)
    }

    @Test("While another thread has it, it takes no spans, and no thread waits")
    func busy() async throws {
        let queue = try SpanQueue()
        let (entered, leave) = (try Wakeup(), try Wakeup())
        let holder = try OwnThread(name: "holder") {
            queue.state.withLock { _ in
                entered.signal()
                _ = leave.wait(for: .seconds(60))
            }
        }
        #expect(entered.wait(for: .seconds(60)))
        var spans = Self.spans(1)
        var dropped = 1
        queue.offer(&spans, alreadyDropped: &dropped)
        #expect(spans.count == 1 && dropped == 1)
        leave.signal()
        try await Blocking.run { holder.join() }
        queue.offer(&spans, alreadyDropped: &dropped)
        #expect(spans.isEmpty && queue.counts.dropped == 1)
    }
}
