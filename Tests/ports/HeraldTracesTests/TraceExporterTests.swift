import Foundation
import HeraldBytes
import HeraldTelemetry
import HeraldText
import HeraldThreads
import HeraldTraces
import TestSupport
import Testing

@Suite("The export of spans to a collector")
struct TraceExporterTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    private static func span(_ number: UInt64) -> TraceSpan {
        TraceSpan(
            TraceContext(traceID: TraceID(high: 1, low: 1), spanID: number, isSampled: true), parent: nil,
            name: "process notifications", kind: .consumer, startNanoseconds: 0, endNanoseconds: 1, attributes: [])
    }

    private static func spans(_ count: UInt64) -> [TraceSpan] { (1...count).map(span) }

    private static func configuration(
        _ server: ScriptedServer, headers: @escaping @Sendable () throws -> [(name: String, value: Secret)] = { [] },
        interval: Duration = .milliseconds(5)
    ) -> TraceConfiguration {
        TraceConfiguration(
            url: "\(server.origin)/v1/traces", headers: headers, resource: [SpanAttribute("service.name", "herald")],
            version: "1.2.3", interval: interval)
    }

    /// Offers spans until the queue is free to take them.
    private static func offer(_ spans: [TraceSpan], to queue: SpanQueue) {
        var spans = spans
        var dropped = 0
        while !spans.isEmpty { queue.offer(&spans, alreadyDropped: &dropped) }
    }

    @Test("Spans arrive as JSON, with the headers that the collector requires")
    func arrival() async throws {
        let requests = Guarded<[String]>([])
        let server = try ScriptedServer { peer in
            let request = try peer.readRequest()
            requests.withLock { $0.append(request) }
            try peer.write(Self.answer)
        }
        defer { server.stop() }
        let exporter = try TraceExporter(
            Self.configuration(server, headers: { [("X-Key", Secret("canary"))] }), logger: .silent)
        defer { exporter.close(within: .seconds(1)) }
        Self.offer(Self.spans(2), to: exporter.queue)
        #expect(try await eventually { exporter.queue.counts.exported == 2 })
        let request = try #require(requests.withLock { $0.first })
        #expect(request.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
        #expect(request.contains("\r\nContent-Type: application/json\r\n"))
        #expect(request.contains("\r\nX-Key: canary\r\n"))
        #expect(request.contains(#""spanId":"0000000000000002""#))
        #expect(exporter.queue.counts.dropped == 0)
    }

    @Test("A full batch does not wait for the interval, and never exceeds its limit")
    func batches() async throws {
        let sizes = Guarded<[Int]>([])
        let server = try ScriptedServer { peer in
            let request = try peer.readRequest()
            sizes.withLock { $0.append(request.components(separatedBy: "\"spanId\"").count - 1) }
            try peer.write(Self.answer)
        }
        defer { server.stop() }
        let exporter = try TraceExporter(Self.configuration(server, interval: .seconds(3_600)), logger: .silent)
        Self.offer(Self.spans(1_100), to: exporter.queue)
        #expect(try await eventually { exporter.queue.counts.exported == 1_024 })
        // The rest leaves when it is closed.
        try await Blocking.run { exporter.close(within: .seconds(30)) }
        #expect(exporter.queue.counts.exported == 1_100)
        #expect(sizes.withLock { $0 } == [512, 512, 76])
    }

    @Test("A busy collector gets the same spans again")
    func busy() async throws {
        let count = Guarded(0)
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            try peer.write(
                number == 1
                    ? "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" : Self.answer)
        }
        defer { server.stop() }
        let exporter = try TraceExporter(Self.configuration(server), logger: .silent)
        defer { exporter.close(within: .seconds(1)) }
        Self.offer(Self.spans(3), to: exporter.queue)
        #expect(try await eventually { exporter.queue.counts.exported == 3 })
        #expect(count.withLock { $0 } == 2 && exporter.queue.counts.dropped == 0)
    }

    @Test(
        "Spans that a collector refuses are lost, and counted",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        ])
    func refused(answer: String) async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(answer)
        }
        defer { server.stop() }
        let exporter = try TraceExporter(Self.configuration(server), logger: .silent)
        defer { exporter.close(within: .seconds(1)) }
        Self.offer(Self.spans(3), to: exporter.queue)
        #expect(try await eventually { exporter.queue.counts.dropped == 3 })
        #expect(exporter.queue.counts.exported == 0)
    }

    @Test("A collector that hangs costs spans, and delays neither their makers nor the end")
    func hanging() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            peer.readToEnd()
        }
        let exporter = try TraceExporter(Self.configuration(server), logger: .silent)
        Self.offer(Self.spans(1), to: exporter.queue)
        #expect(try await eventually { server.acceptedCount >= 1 })
        Self.offer(Self.spans(10_000), to: exporter.queue)
        #expect(exporter.queue.counts.dropped > 0, "the queue does not hold them all, and nobody waits for it")
        try await Blocking.run {
            exporter.close(within: .zero)
            // The request is given up within a second, and everything is counted.
            server.stop()
        }
        #expect(try await eventually { exporter.queue.counts.dropped == 10_001 })
    }
}
