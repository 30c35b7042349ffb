import HeraldBytes
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldTelemetry
@testable import HeraldWorker

@Suite("The spans of a lane")
struct LaneTraceTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let producer = "00-\(trace)-b7ad6b7169203331-01"
    private static let unsampled = "00-\(trace)-b7ad6b7169203331-00"

    private let queue: SpanQueue
    private let fixture: LaneFixture
    private var io: ScriptedIO { fixture.io }

    init() throws {
        try self.init(ratio: 1)
    }

    private init(ratio: Double, isAtomic: Bool = false, maxInFlight: Int = 1_000) throws {
        let queue = try SpanQueue()
        self.queue = queue
        fixture = LaneFixture(
            isAtomic: isAtomic,
            tracing: Tracing(
                sampler: TraceSampler(ratio: ratio), queue: queue, group: "herald",
                url: "https://push.example.com/base", host: "push.example.com", port: 443, path: "/api/notifications")
        ) { $0.maxInFlight = maxInFlight }
        if isAtomic {
            fixture.turn()
            fixture.io.messages.append(.transaction(.ready(lateClaims: 0)))
        }
        fixture.assign()
    }

    /// The finished spans, in the order of their ends.
    private func spans() -> [TraceSpan] { queue.next(within: .zero) ?? [] }

    /// Delivers one event and answers its call.
    private func deliver(_ status: Int, headers: [(name: String, value: String)] = []) {
        io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna", headers: headers)]
        fixture.turn()
        fixture.answer(status)
        fixture.turn(after: .milliseconds(3))
    }

    @Test("An event has a span, below it one for its call and one for its outcome; its parent is the producer's")
    func tree() throws {
        deliver(200, headers: [("traceparent", Self.producer)])
        #expect(spans().map(\.name) == ["POST /api/notifications"], "nothing else has ended")
        fixture.acknowledge()
        fixture.turn(after: .milliseconds(2))
        let rest = spans()
        #expect(rest.map(\.name) == ["settle notifications", "process notifications"])
        let (settle, process) = (rest[0], rest[1])
        #expect(process.parent == SpanParent(spanID: 0xB7AD_6B71_6920_3331, isRemote: true))
        #expect(settle.parent == SpanParent(spanID: process.context.spanID, isRemote: false))
        #expect(settle.context.traceID == process.context.traceID && process.link == nil)
        #expect(process.kind == .consumer && process.failure == nil && settle.failure == nil)
        #expect(process.startNanoseconds == 1_700_000_000_000_000_000)
        #expect(process.endNanoseconds - process.startNanoseconds == 5_000_000)
        #expect(settle.endNanoseconds - settle.startNanoseconds == 2_000_000)
        #expect(process.attributes.contains(SpanAttribute("messaging.kafka.offset", 0)))
        #expect(process.attributes.contains(SpanAttribute("messaging.message.id", "anna-0")))
        #expect(settle.attributes.contains(SpanAttribute("herald.outcomes", ["apns delivered"])))
    }

    @Test("The backend receives the call's own span, and no part of it names the user")
    func call() throws {
        deliver(503, headers: [("traceparent", Self.producer)])
        let call = try #require(spans().first)
        #expect(io.traceparents == [String(decoding: call.context.bytes, as: UTF8.self)])
        #expect(io.traceparents[0].hasPrefix("00-\(Self.trace)-") && io.traceparents[0] != Self.producer)
        #expect(call.kind == .client && call.failure == "503")
        #expect(call.endNanoseconds - call.startNanoseconds == 3_000_000)
        #expect(
            call.attributes == [
                SpanAttribute("http.request.method", "POST"),
                SpanAttribute("url.full", "https://push.example.com/base/api/notifications"),
                SpanAttribute("server.address", "push.example.com"), SpanAttribute("server.port", 443),
                SpanAttribute("herald.push_service", "apns"), SpanAttribute("http.response.status_code", 503),
                SpanAttribute("network.protocol.version", "1.1"), SpanAttribute("error.type", "503"),
            ])
    }

    @Test("A call without an answer gives the reason")
    func noAnswer() throws {
        io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        fixture.answer(0, failure: .timeout)
        fixture.turn(after: .milliseconds(3))
        let call = try #require(spans().first)
        #expect(call.failure == "timeout" && call.attributes.last == SpanAttribute("error.type", "timeout"))
    }

    @Test("A retry keeps the producer's context and names the span that wrote it")
    func retry() throws {
        deliver(503, headers: [("traceparent", Self.producer)])
        let headers = try #require(io.producedHeaders.last)
        #expect(headers["traceparent"] == Self.producer)
        fixture.acknowledge()
        fixture.turn()
        let settle = try #require(spans().first { $0.name.hasPrefix("settle") })
        #expect(headers["herald-traceparent"] == String(decoding: settle.context.bytes, as: UTF8.self))
        #expect(settle.attributes.contains(SpanAttribute("herald.outcomes", ["apns retry 5s transient"])))
    }

    @Test("A dead letter makes the event's span a failed one")
    func deadLetter() throws {
        deliver(400, headers: [("traceparent", Self.producer)])
        for id in io.productions { io.acknowledged.append((id, nil)) }
        fixture.turn()
        let process = try #require(spans().last)
        #expect(process.name == "process notifications" && process.failure == "dead-letter rejected")
    }

    @Test("The span in a record's herald-traceparent is linked")
    func link() throws {
        let writer = "00-\(Self.trace)-00000000000000ff-01"
        deliver(200, headers: [("traceparent", Self.producer), ("herald-traceparent", writer)])
        fixture.acknowledge()
        fixture.turn()
        let process = try #require(spans().last)
        #expect(process.link?.spanID == 255 && process.parent?.spanID == 0xB7AD_6B71_6920_3331)
    }

    @Test("An event without a context is a trace of its own, and its retry belongs to it")
    func root() throws {
        deliver(503)
        fixture.acknowledge()
        fixture.turn()
        let process = try #require(spans().last)
        #expect(process.parent == nil)
        #expect(io.producedHeaders.last?["traceparent"] == String(decoding: process.context.bytes, as: UTF8.self))
    }

    @Test("An event that its producer does not record has no span, and its context is passed on unchanged")
    func unsampled() throws {
        deliver(503, headers: [("traceparent", Self.unsampled)])
        fixture.acknowledge()
        fixture.turn()
        #expect(spans().isEmpty && io.traceparents == [Self.unsampled])
        #expect(io.producedHeaders.last?["traceparent"] == Self.unsampled)
        #expect(io.producedHeaders.last?["herald-traceparent"] == nil)
    }

    @Test("An event that is not sampled is not sampled after a retry either")
    func notChosen() throws {
        let none = try Self(ratio: 0)
        none.deliver(503)
        #expect(none.io.traceparents == ["none"])
        let traceparent = try #require(none.io.producedHeaders.last?["traceparent"])
        #expect(traceparent.hasSuffix("-00") && TraceContext(traceparent.utf8.span.bytes) != nil)
        none.fixture.acknowledge()
        none.fixture.turn()
        #expect(none.spans().isEmpty)
    }

    @Test("Without a tracer nothing is added to calls and records")
    func off() throws {
        let fixture = LaneFixture()
        fixture.assign()
        fixture.io.queues[0] = [
            ScriptedRecord(LaneFixture.topic, at: 0, user: "anna"),
            ScriptedRecord(LaneFixture.topic, at: 1, user: "bob", headers: [("traceparent", Self.producer)]),
        ]
        fixture.turn()
        #expect(fixture.io.traceparents == ["none", Self.producer])
        fixture.answer(503)
        fixture.turn()
        let headers = try #require(fixture.io.producedHeaders.last)
        #expect(headers["traceparent"] == Self.producer && headers["herald-traceparent"] == nil)
    }

    @Test("With transactions an event ends with its commit, not before")
    func transaction() throws {
        let atomic = try Self(ratio: 1, isAtomic: true)
        atomic.deliver(200)
        #expect(atomic.spans().map(\.name) == ["POST /api/notifications"])
        for _ in 0..<2 { atomic.fixture.turn(after: .milliseconds(200)) }
        #expect(atomic.spans().isEmpty)
        atomic.io.messages.append(.transaction(.committed(sequence: 1, nil, .acknowledged)))
        atomic.fixture.turn(after: .milliseconds(1))
        let rest = atomic.spans()
        #expect(rest.map(\.name) == ["settle notifications", "process notifications"])
        #expect(rest.allSatisfy { $0.failure == nil })
    }

    @Test("Lost partitions end the spans of their events, as not recorded")
    func lost() throws {
        io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        io.rebalances.append(.revoke([LaneFixture.partition()], lost: true))
        fixture.turn()
        let ended = spans()
        #expect(ended.map(\.name) == ["POST /api/notifications", "process notifications"])
        #expect(ended.map(\.failure) == ["abandoned", "not recorded: the event is taken again"])
    }

    @Test("An event in a slot that more calls in flight have added has its span")
    func moreInFlight() throws {
        let test = try Self(ratio: 1, maxInFlight: 1)
        let room = test.fixture.lane.records.count
        var live = LiveConfiguration()
        live.maxInFlight = 500
        test.io.messages = [.settings(LaneSettings(engine: live, connectionLimit: 500))]
        test.io.unforwarded = (0...room).map { ScriptedRecord(LaneFixture.topic, at: Int64($0), user: "user-\($0)") }
        test.fixture.turn()
        test.io.rebalances.append(.revoke([LaneFixture.partition()], lost: true))
        test.fixture.turn(after: .milliseconds(3))
        #expect(test.spans().count { $0.kind == .consumer } == room + 1)
    }

    @Test("While another thread has the queue the lane continues; spans beyond its room are dropped and counted")
    func busyQueue() async throws {
        let io = io
        let fixture = fixture
        let queue = queue
        queue.state.withLock { _ in
            for offset in 0..<Int64(1_000) {
                io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: offset, user: "user-\(offset)")]
                fixture.turn()
                fixture.answer(200)
                fixture.turn()
                fixture.acknowledge()
                fixture.turn()
            }
        }
        fixture.turn()
        #expect((0..<5).map { _ in spans().count } == [512, 512, 512, 512, 0])
        #expect(queue.counts.dropped == 3 * 1_000 - 4 * 512)
    }
}
