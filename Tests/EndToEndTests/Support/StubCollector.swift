import Foundation
import HeraldThreads
import TestSupport

/// A span as received by a collector, in OTLP's JSON.
struct CollectedSpan: Sendable, Decodable {
    struct Attribute: Sendable, Decodable {
        struct Value: Sendable, Decodable {
            var stringValue: String?
            var intValue: String?
        }

        var key: String
        var value: Value
    }

    struct Link: Sendable, Decodable {
        var traceId: String
        var spanId: String
    }

    var traceId: String
    var spanId: String
    var parentSpanId: String?
    var name: String
    var attributes: [Attribute]
    var links: [Link]?

    /// The value of an attribute as text.
    subscript(key: String) -> String? {
        attributes.first { $0.key == key }.flatMap { $0.value.stringValue ?? $0.value.intValue }
    }
}

/// A collector of traces that keeps its spans.
final class StubCollector: Sendable {
    private struct Request: Decodable {
        struct Resource: Decodable { var scopeSpans: [Scope] }
        struct Scope: Decodable { var spans: [CollectedSpan] }

        var resourceSpans: [Resource]
    }

    private let server: ScriptedServer
    private let collected = Guarded<[CollectedSpan]>([])

    /// - Parameter isHanging: Whether it never answers.
    init(isHanging: Bool = false) throws {
        server = try ScriptedServer { [collected] peer in
            let text = try peer.readRequest()
            guard !isHanging else {
                peer.readToEnd()
                return
            }
            if let body = text.range(of: "\r\n\r\n") {
                let request = try JSONDecoder().decode(Request.self, from: Data(text[body.upperBound...].utf8))
                collected.withLock { $0 += request.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans) }
            }
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        }
    }

    /// The value of `traces.url`.
    var url: String { "\(server.origin)/v1/traces" }

    /// The number of connections so far.
    var connectionCount: Int { server.acceptedCount }

    /// The spans so far.
    var spans: [CollectedSpan] { collected.withLock { $0 } }

    /// The spans with this prefix.
    func spans(_ prefix: String) -> [CollectedSpan] { spans.filter { $0.name.hasPrefix(prefix) } }

    func stop() { server.stop() }
}
