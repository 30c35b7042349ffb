import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Traces", .realKafka("Traces"))
struct TraceTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let producer = "b7ad6b7169203331"

    private static func plan(
        _ collector: StubCollector, _ change: (inout Fixture.Plan) -> Void = { _ in }
    ) -> Fixture.Plan {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        plan.settings = [
            "traces.url": collector.url, "retry.immediate": "0", "retry.delays": "[1s]", "outages.breaker.of": "0",
        ]
        change(&plan)
        return plan
    }

    private static func event(_ id: String, sampled: Bool = true) -> Publication {
        var event = Publication(id: id, user: "user-\(id)")
        event.headers = [.init("traceparent", "00-\(trace)-\(producer)-\(sampled ? "01" : "00")")]
        return event
    }

    @Test("A call of a hub has the namespace's address and the path of the hub's messages")
    func hub() async throws {
        let collector = try StubCollector()
        defer { collector.stop() }
        let hub = try HubEmulator()
        defer { hub.stop() }
        try await Fixture.run(Self.plan(collector)) { fixture in
            let worker = try await fixture.startHubWorker(hub)
            try await fixture.publish([Self.event("one")])
            try await fixture.waitForResults(1)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let calls = collector.spans("POST")
            #expect(calls.map(\.name) == ["POST /herald/messages/"])
            #expect(calls.map { $0["url.full"] } == ["\(hub.url)/herald/messages/"])
            #expect(calls.map { $0["server.address"] } == ["127.0.0.1"])
            #expect(calls.map { $0["server.port"] } == ["\(hub.port)"])
        }
    }

    @Test("An event is followed through its retry: one trace, the backend in it, each stay linked to the last")
    func retry() async throws {
        let collector = try StubCollector()
        defer { collector.stop() }
        let plan = Self.plan(collector) { $0.misbehaviour = [.status(503) { $0.calls = 1 }] }
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.event("one")])
            try await fixture.waitForResults(1)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            #expect(collector.spans.allSatisfy { $0.traceId == Self.trace })
            let stays = collector.spans("process")
            #expect(
                stays.map(\.name) == [
                    "process \(fixture.topic("notifications"))", "process \(fixture.topic("notifications.retry.1s"))",
                ])
            #expect(stays.allSatisfy { $0.parentSpanId == Self.producer && $0["messaging.message.id"] == "one" })
            let settles = collector.spans("settle")
            #expect(settles.map(\.parentSpanId) == stays.map(\.spanId))
            #expect(stays.first?.links == nil && stays.last?.links?.map(\.spanId) == settles.first.map { [$0.spanId] })
            let calls = collector.spans("POST")
            #expect(calls.map(\.parentSpanId) == stays.map(\.spanId))
            #expect(calls.map { $0["http.response.status_code"] } == ["503", "200"])
            #expect(calls.map { $0["http.request.resend_count"] } == [nil, "1"])
            #expect(fixture.backend.calls.map(\.traceparent) == calls.map { "00-\(Self.trace)-\($0.spanId)-01" })
            #expect(!collector.spans.contains { "\($0)".contains("user-one") }, "no span names the user")
        }
    }

    @Test("A replay continues in the event's trace and links to the command that replayed it")
    func replay() async throws {
        let collector = try StubCollector()
        defer { collector.stop() }
        let plan = Self.plan(collector) { $0.misbehaviour = [.status(400)] }
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.event("one"), Self.event("unseen", sampled: false)])
            try await fixture.waitForResults(2)
            fixture.backend.misbehave([])
            let run = try await fixture.dlq("replay", "--where", "status = 400", "--yes")
            #expect(run.status == 0, "\(run.output)")
            try await fixture.waitForResults(4)
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let stays = collector.spans("process")
            #expect(stays.map { $0["messaging.message.id"] } == ["one", "one"], "who is not to be seen is not")
            #expect(stays.allSatisfy { $0.traceId == Self.trace && $0.parentSpanId == Self.producer })
            #expect(stays.map { $0["herald.replays"] } == [nil, "1"])
            let job = try #require(collector.spans("replay").first)
            #expect(job["messaging.batch.message_count"] == "2" && job.traceId != Self.trace)
            #expect(stays.last?.links?.map(\.traceId) == [job.traceId])
            #expect(stays.last?.links?.map(\.spanId) == [job.spanId])
        }
    }

    @Test("Each event of a campaign has its own trace that links to the campaign's")
    func campaign() async throws {
        let collector = try StubCollector()
        defer { collector.stop() }
        try await Fixture.run(Self.plan(collector)) { fixture in
            let worker = try await fixture.startWorker()
            let run = try fixture.startTool(fixture.startWords(try fixture.audience(5)))
            #expect(try await run.waitForExit(within: 120) == 0, "\(run.output)")
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let job = try #require(collector.spans("publish").first)
            #expect(job["herald.campaign"] == "spring" && job["messaging.batch.message_count"] == "5")
            let stays = collector.spans("process")
            #expect(stays.count == 5 && Set(stays.map(\.traceId) + [job.traceId]).count == 6)
            #expect(stays.allSatisfy { $0.parentSpanId == nil && $0.links?.map(\.spanId) == [job.spanId] })
            #expect(stays.allSatisfy { $0["herald.campaign"] == "spring" })
        }
    }

    @Test("A collector that hangs costs spans, but no delivery and no drain")
    func collectorHangs() async throws {
        let hanging = try StubCollector(isHanging: true)
        defer { hanging.stop() }
        try await Fixture.run(Self.plan(hanging)) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<4_000))
            try await fixture.waitForResults(4_000)
            try await fixture.waitUntilAllIsCommitted()
            // More than fit the queue: they were dropped while no thread waited.
            let metrics = try await worker.metrics()
            #expect(metrics[#"herald_trace_spans_total{outcome="exported"}"#] == 0)
            #expect(metrics[#"herald_trace_spans_total{outcome="dropped"}"#] ?? 0 > 0, "\(metrics)")
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            oracle.expectResults(Batch.delivered(0..<4_000))
        }
        #expect(hanging.connectionCount > 0)
    }
}
