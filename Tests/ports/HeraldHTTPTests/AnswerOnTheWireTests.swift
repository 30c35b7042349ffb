import Dispatch
import HeraldHTTP
import TestSupport
import Testing

/// The transport of the server's bytes.
enum Wire: String, CaseIterable, CustomTestStringConvertible {
    case plainAtOnce
    case plainByteByByte
    case tlsAtOnce
    case tlsByteByByte

    var testDescription: String { rawValue }
    var isTLS: Bool { self == .tlsAtOnce || self == .tlsByteByByte }
    var isByteByByte: Bool { self == .plainByteByByte || self == .tlsByteByByte }

    func server(_ script: @escaping ScriptedServer.Script) throws -> ScriptedServer {
        try ScriptedServer(tls: isTLS ? TestCertificates.shared().good : nil, script: script)
    }

    func driver(_ server: ScriptedServer, limit: Int = 4) throws -> PoolDriver {
        let tls = isTLS ? TLSFiles(caFile: try TestCertificates.shared().authorityFile) : TLSFiles()
        return try PoolDriver(ConnectionOptions(origin: server.origin, limit: limit, tls: tls))
    }

    func write(_ text: String, to peer: ScriptedPeer) throws {
        if isByteByByte { try peer.writeByteByByte(text) } else { try peer.write(text) }
    }
}

@Suite("Answers over connections")
struct AnswerOnTheWireTests {
    @Test("The request arrives byte for byte, and the answer's facts come back", arguments: Wire.allCases)
    func facts(wire: Wire) throws {
        let server = try wire.server { peer in
            let request = try peer.readRequest()
            let status = request == PoolDriver.request ? "429 Slow Down" : "400 Other Request"
            try wire.write(
                "HTTP/1.1 \(status)\r\nRetry-After: 120\r\nContent-Length: 4\r\n\r\nwait",
                to: peer)
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        let ended = try #require(driver.call())
        #expect(ended.status == 429 && ended.failure == nil)
        #expect(ended.retryAfter == "120" && ended.body == "wait")
        #expect(driver.pool.idleCount == 1)
        driver.pool.close()
    }

    @Test(
        "Every framing is read, and a connection is used again only when that is safe", arguments: Wire.allCases,
        [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, true),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, true),
            ("HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", 503, true),
            ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 2\r\n\r\nok", 302, true),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, false),
            ("HTTP/1.0 500 No\r\nContent-Length: 2\r\n\r\nok", 500, false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n", 200, false),
        ])
    func framings(wire: Wire, answer: (text: String, status: Int, isReusable: Bool)) throws {
        let server = try wire.server { peer in
            while true {
                _ = try peer.readRequest()
                try wire.write(answer.text, to: peer)
                if !answer.isReusable {
                    _ = peer.readToEnd()
                    return
                }
            }
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        for _ in 1...3 {
            let ended = try #require(driver.call())
            #expect(ended.status == answer.status && ended.failure == nil && ended.body == "ok")
            if !answer.isReusable {
                let isDropped = driver.run { driver.pool.connectionCount == 0 }
                #expect(isDropped)
            }
        }
        #expect(server.acceptedCount == (answer.isReusable ? 1 : 3))
        driver.pool.close()
    }

    @Test("An answer without a length ends with its connection", arguments: Wire.allCases)
    func noLength(wire: Wire) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try wire.write("HTTP/1.1 400 Bad\r\n\r\nto the end", to: peer)
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        let ended = try #require(driver.call())
        #expect(ended.status == 400 && ended.body == "to the end")
        #expect(driver.pool.connectionCount == 0)
    }

    @Test(
        "An incomplete or invalid HTTP/1.x answer is a failure, never a status", arguments: Wire.allCases,
        [
            ("HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", FailureKind.brokenHTTP),
            ("HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n", .brokenHTTP),
            ("HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", .brokenHTTP),
            ("220 mail.example.org ESMTP\r\n", .brokenHTTP),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", .brokenHTTP),
            ("", .connectionReset),
            ("HTTP/1.1 200 O", .connectionReset),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .connectionReset),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .connectionReset),
            ("HTTP/1.1 100 Continue\r\n\r\n", .connectionReset),
        ])
    func failures(wire: Wire, answer: (text: String, kind: FailureKind)) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try wire.write(answer.text, to: peer)
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        let ended = try #require(driver.call())
        #expect(ended.failure == answer.kind && ended.status == 0)
        #expect(!ended.body.isEmpty)
        #expect(driver.pool.connectionCount == 0)
    }

    @Test("An endless body is cut, and its status stands", arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func endlessBody(wire: Wire) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 500 No\r\n\r\n")
            while true { try peer.write(String(repeating: "x", count: 10_000)) }
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        let ended = try #require(driver.call())
        #expect(ended.status == 500 && ended.body.utf8.count == 65_536)
        #expect(driver.pool.connectionCount == 0)
    }

    @Test("A flood of headers is broken HTTP", arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func headerFlood(wire: Wire) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n")
            while true { try peer.write("X-Flood: \(String(repeating: "x", count: 1_000))\r\n") }
        }
        defer { server.stop() }
        let ended = try #require(try wire.driver(server).call())
        #expect(ended.failure == .brokenHTTP)
    }

    @Test("A large request is written in as many parts as necessary", arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func largeRequest(wire: Wire) throws {
        let body = String(repeating: "0123456789abcdef", count: 500_000)
        let request = "POST / HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let server = try wire.server { peer in
            let isSame = try peer.readRequest() == request
            try peer.write("HTTP/1.1 \(isSame ? 200 : 400) OK\r\nContent-Length: 0\r\n\r\n")
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        #expect(try #require(driver.call(request: request)).status == 200)
        #expect(driver.pool.idleCount == 1)
        driver.pool.close()
    }

    @Test("An answer before the end of the request counts, and ends the connection")
    func earlyAnswer() throws {
        let body = String(repeating: "x", count: 16_000_000)
        let isDone = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { peer in
            try peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            // Reads nothing of the request.
            isDone.wait()
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        let ended = driver.call(request: "POST / HTTP/1.1\r\nContent-Length: 16000000\r\n\r\n\(body)")
        isDone.signal()
        #expect(ended?.status == 413)
        #expect(driver.pool.connectionCount == 0)
    }
}
