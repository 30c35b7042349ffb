import Dispatch
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldHTTP

private func request(_ path: String, _ headers: String = "", body: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: here\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

@Suite("Calls over HTTP/2")
struct HTTP2CallTests {
    @Test("A call arrives as it was written, and the answer's facts come back", arguments: HTTP2Wire.allCases)
    func facts(wire: HTTP2Wire) throws {
        let seen = Guarded<HTTP2Peer.Call?>(nil)
        let server = try wire.server { peer in
            let call = try peer.readCall()
            seen.withLock { $0 = call }
            try peer.answer(
                call.stream, status: 429, [("retry-after", "120"), ("location", "https://here/1"), ("x", "y")],
                body: "wait")
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        driver.begin(1, request: request("/x?y=z", "Authorization: Basic abc\r\nUser-Agent: herald\r\n", body: "hi"))
        let ended = try #require(driver.finish(1).first)
        #expect(ended.status == 429 && ended.retryAfter == "120" && ended.body == "wait")
        let call = try #require(seen.withLock { $0 })
        #expect(call[":method"] == "POST" && call[":path"] == "/x?y=z" && call[":authority"] == "here")
        #expect(call[":scheme"] == (wire == .tls ? "https" : "http"))
        #expect(call["authorization"] == "Basic abc" && call["content-length"] == "2" && call["host"] == nil)
        #expect(call.body == Array("hi".utf8))
        #expect(driver.pool.sharedConnectionCount == 1)
        driver.pool.close()
    }

    @Test("Many calls share few connections, and every call gets its own answer", arguments: HTTP2Wire.allCases)
    func manyCalls(wire: HTTP2Wire) throws {
        let server = try wire.server { peer in
            while true {
                let calls = [try peer.readCall(), try peer.readCall(), try peer.readCall()]
                for call in calls.reversed() { try peer.answer(call.stream, body: call[":path"] ?? "") }
            }
        }
        defer { server.stop() }
        let driver = try wire.driver(server, limit: 1)
        for token in 1...UInt64(600) { driver.begin(token, request: request("/call/\(token)")) }
        let ended = driver.finish(600)
        #expect(ended.allSatisfy { $0.status == 200 && $0.body == "/call/\($0.token)" })
        #expect(Set(ended.map(\.token)).count == 600 && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A connection has no more calls than the other side allows; the next ones use another connection")
    func places() throws {
        // None is answered before all have arrived: a connection with early answers would take calls of another.
        let come = DispatchGroup()
        for _ in 1...6 { come.enter() }
        let server = try HTTP2Wire.plain.server(settings: [HTTP2Peer.maxStreams: 2]) { peer in
            let calls = [try peer.readCall(), try peer.readCall()]
            for _ in calls { come.leave() }
            _ = come.wait(timeout: .now() + .seconds(Patience.seconds))
            for call in calls { try peer.answer(call.stream) }
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server, limit: 3)
        for token in 1...UInt64(6) { driver.begin(token) }
        #expect(driver.finish(6).allSatisfy { $0.status == 200 })
        #expect(server.acceptedCount == 3)
        driver.pool.close()
    }

    @Test("Fields that all calls share are sent once, and secrets and keys are kept in no table")
    func compression() throws {
        let seen = Guarded<[HTTP2Peer.Call]>([])
        let server = try HTTP2Wire.plain.server { peer in
            while true {
                let call = try peer.readCall()
                seen.withLock { $0.append(call) }
                try peer.answer(call.stream)
            }
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        let headers =
            "Authorization: Bearer 0123456789\r\nUser-Agent: herald\r\nContent-Type: application/json; charset=utf-8\r\n"
        for number in 1...3 {
            #expect(
                driver.call(request: request("/x?to=\(number)", headers + "Idempotency-Key: key\(number)\r\n"))?.status
                    == 200)
        }
        let calls = seen.withLock { $0 }
        #expect(calls.count == 3)
        let neverIndexed = calls[0].fields.filter(\.isNeverIndexed).map(\.name)
        #expect(neverIndexed == ["authorization", "idempotency-key"])
        // Secret, key and path again, and nothing else.
        #expect(calls[1].headByteCount < calls[0].headByteCount - 30)
        #expect(abs(calls[2].headByteCount - calls[1].headByteCount) <= 2)
        driver.pool.close()
    }

    @Test("A request larger than the window is sent as the other side accepts it")
    func sentWindow() throws {
        let body = String(repeating: "0123456789", count: 20)
        let server = try HTTP2Wire.plain.server(settings: [HTTP2Peer.initialWindow: 16]) { peer in
            var received: [UInt8] = []
            while received.count < 200 {
                let frame = try peer.readFrame(HTTP2Peer.Frame.data)
                received += frame.payload
                guard frame.payload.count <= 16 else { throw ScriptedPeer.Ended() }
                if received.count < 200 {
                    try peer.write(
                        HTTP2Peer.Frame(
                            type: HTTP2Peer.Frame.windowUpdate, stream: frame.stream, payload: [0, 0, 0, 16]))
                }
            }
            try peer.answer(1, body: String(decoding: received, as: UTF8.self))
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        driver.begin(1, request: request("/", body: body))
        #expect(driver.finish(1).first?.body == body)
        driver.pool.close()
    }

    @Test("A call that the other side does not accept in time is not in doubt, and an accepted one is")
    func untaken() throws {
        let server = try HTTP2Wire.plain.server(settings: [HTTP2Peer.initialWindow: 16]) { peer in peer.readToEnd() }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        driver.begin(1, request: request("/", body: String(repeating: "x", count: 100)), milliseconds: 300)
        driver.begin(2, request: request("/", body: "short"), milliseconds: 300)
        let ended = driver.finish(2).sorted { $0.token < $1.token }
        #expect(ended.map(\.failure) == [.timeout, .timeout])
        #expect(ended.map(\.isSent) == [false, true])
        #expect(ended[0].body == "request not taken in time" && ended[1].body == "no complete answer in time")
        #expect(driver.pool.connectionCount == 1)
        driver.pool.close()
    }

    @Test("A stream that hangs affects no other: it is reset, and its connection stays")
    func hangingStream() throws {
        let resets = Guarded<[UInt32]>([])
        let server = try HTTP2Wire.plain.server { peer in
            while true {
                let frame = try peer.readFrame(HTTP2Peer.Frame.headers)
                if frame.stream == 1 {
                    let reset = try peer.readFrame(HTTP2Peer.Frame.reset)
                    resets.withLock { $0.append(reset.stream) }
                } else {
                    try peer.answer(frame.stream)
                }
            }
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server, limit: 1)
        driver.begin(1, request: "GET /hang HTTP/1.1\r\nHost: here\r\n\r\n", milliseconds: 200)
        #expect(driver.finish(1).map(\.failure) == [.timeout])
        driver.begin(2, request: "GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        #expect(driver.finish(1).map(\.status) == [200])
        #expect(resets.withLock { $0 } == [1] && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A cancelled call has no completion, and its connection stays")
    func cancelled() throws {
        let isThere = Guarded(false)
        let server = try HTTP2Wire.plain.server { peer in
            _ = try peer.readCall()
            isThere.withLock { $0 = true }
            _ = try peer.readFrame(HTTP2Peer.Frame.reset)
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server, limit: 1)
        driver.begin(1)
        #expect(driver.run { isThere.withLock { $0 } })
        #expect(driver.cancel(1))
        // A call that is cancelled before it is written is never seen.
        driver.begin(2)
        #expect(driver.cancel(2))
        #expect(driver.call()?.status == 200)
        #expect(server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A long body is cut and its stream ended, an interim answer and trailers are ignored")
    func bodies() throws {
        let server = try HTTP2Wire.plain.server { peer in
            var call = try peer.readCall()
            try peer.write(HTTP2Peer.head(call.stream, status: 200))
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 16_384)
            for _ in 0..<3 {
                try peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.data, stream: call.stream, payload: piece))
            }
            // Within the window.
            try peer.write(
                HTTP2Peer.Frame(type: HTTP2Peer.Frame.data, stream: call.stream, payload: Array(piece.dropLast())))
            _ = try peer.readFrame(HTTP2Peer.Frame.windowUpdate)
            try peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.data, stream: call.stream, payload: piece))
            _ = try peer.readFrame(HTTP2Peer.Frame.reset)
            call = try peer.readCall()
            try peer.write(HTTP2Peer.head(call.stream, status: 103, [("retry-after", "1")]))
            try peer.write(HTTP2Peer.head(call.stream, status: 200))
            try peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.data, stream: call.stream, payload: Array("hi".utf8)))
            let trailers = HTTP2Peer.literal("retry-after", "2")
            try peer.write(
                HTTP2Peer.Frame(type: HTTP2Peer.Frame.headers, flags: 5, stream: call.stream, payload: trailers))
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server, limit: 1)
        let long = try #require(driver.call())
        #expect(long.status == 200 && long.body.utf8.count == AnswerReader.bodyLimit)
        let short = try #require(driver.call())
        #expect(short.status == 200 && short.body == "hi" && short.retryAfter.isEmpty)
        #expect(server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A call answered before it was sent completely has its answer, and its stream ends")
    func earlyAnswer() throws {
        let server = try HTTP2Wire.plain.server(settings: [HTTP2Peer.initialWindow: 16]) { peer in
            let call = try peer.readFrame(HTTP2Peer.Frame.headers)
            try peer.answer(call.stream, status: 413)
            _ = try peer.readFrame(HTTP2Peer.Frame.reset)
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server, limit: 1)
        #expect(driver.call(request: request("/", body: String(repeating: "x", count: 100)))?.status == 413)
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }
}
