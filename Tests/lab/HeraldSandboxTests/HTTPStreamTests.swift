import Foundation
import HeraldHTTP
import HeraldThreads
import TestSupport
import Testing

@Suite("Streamed answers")
struct HTTPStreamTests {
    /// A server that answers everything with its own streams, and keeps them.
    private final class Streams: Sendable {
        let opened = Guarded<[HTTPStream]>([])
        let limitBytes: Int

        init(limitBytes: Int = 1 << 20) { self.limitBytes = limitBytes }

        func serve() throws -> HTTPServer {
            try HTTPServer { _ in
                let stream = HTTPStream(limitBytes: self.limitBytes)
                self.opened.withLock { $0.append(stream) }
                return .stream(HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream"]), stream)
            }
        }

        func stream() async throws -> HTTPStream {
            _ = try await eventually { !opened.withLock { $0.isEmpty } }
            return try #require(opened.withLock { $0.last })
        }
    }

    @Test(
        "Data arrives piece by piece, all of it before the end, and then the connection is free")
    func pieces() async throws {
        let streams = Streams()
        let server = try streams.serve()
        defer { server.stop() }
        let client = try PlainHTTP(port: server.port)
        try client.sendRequest("GET", "/")
        let stream = try await streams.stream()
        #expect(try client.read(through: "\r\n\r\n").contains("chunked"))
        for number in 0..<100 {
            #expect(stream.send(Array("piece \(number);".utf8)))
            _ = try client.read(through: "piece \(number);")
        }
        stream.send(Array("the last".utf8))
        stream.finish()
        stream.finish()
        #expect(!stream.send([1]))
        _ = try client.read(through: "the last")
        _ = try client.read(through: "0\r\n\r\n")
        try client.sendRequest("GET", "/")
        _ = try await eventually { streams.opened.withLock { $0.count } == 2 }
        #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    }

    @Test("Megabytes arrive whole and in order, from any sending thread")
    func much() async throws {
        let streams = Streams(limitBytes: 64 << 20)
        let server = try streams.serve()
        defer { server.stop() }
        let client = try PlainHTTP(port: server.port)
        try client.sendRequest("GET", "/")
        let stream = try await streams.stream()
        let sender = try OwnThread(name: "sender") {
            for number in 0..<2_000 { stream.send(Array("<\(number)>".utf8) + [UInt8](repeating: 46, count: 1_000)) }
            stream.finish()
        }
        try await Blocking.run { sender.join() }
        let all = try client.read(through: "\r\n0\r\n\r\n")
        var position = all.startIndex
        for number in [0, 1, 999, 1_000, 1_999] {
            let found = try #require(all.range(of: "<\(number)>", range: position..<all.endIndex))
            position = found.upperBound
        }
    }

    @Test("A client that leaves is noticed; one that does not read is disconnected at the limit")
    func gone() async throws {
        let streams = Streams(limitBytes: 100_000)
        let server = try streams.serve()
        defer { server.stop() }
        var client: PlainHTTP? = try PlainHTTP(port: server.port)
        try client?.sendRequest("GET", "/")
        let stream = try await streams.stream()
        _ = try client?.read(through: "\r\n\r\n")
        client = nil
        #expect(try await eventually { !stream.isOpen })

        let silent = try PlainHTTP(port: server.port)
        try silent.sendRequest("GET", "/")
        _ = try await eventually { streams.opened.withLock { $0.count } == 2 }
        let second = try await streams.stream()
        // The kernel's buffer for a connection is bounded too.
        let piece = [UInt8](repeating: 46, count: 50_000)
        #expect((0..<1_000).contains { _ in !second.send(piece) })
        withExtendedLifetime(silent) {}
    }

    @Test("A stopping server ends its streams")
    func stop() async throws {
        let streams = Streams()
        let server = try streams.serve()
        let client = try PlainHTTP(port: server.port)
        try client.sendRequest("GET", "/")
        let stream = try await streams.stream()
        _ = try client.read(through: "\r\n\r\n")
        server.stop()
        #expect(!stream.isOpen)
        try client.waitUntilClosed()
    }
}
