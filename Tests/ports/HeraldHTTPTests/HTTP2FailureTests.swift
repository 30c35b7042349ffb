import Dispatch
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

private typealias Frame = HTTP2Peer.Frame

extension PoolDriver {
    /// Whether a connection would take one more call.
    fileprivate var hasFreePlace: Bool {
        var shared = pool.state.shared
        return shared.nextFree() != nil
    }
}

@Suite("Failures over HTTP/2")
struct HTTP2FailureTests {
    @Test("GOAWAY: unread calls are repeated at once, and read ones get their answers")
    func goAway() throws {
        let first = First()
        let server = try HTTP2Wire.plain.server { peer in
            guard first.take() else { return try peer.serve(status: 201) }
            let calls = [try peer.readCall(), try peer.readCall(), try peer.readCall()]
            try peer.goAway(last: calls[0].stream)
            try peer.answer(calls[0].stream)
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        for token in 1...UInt64(3) { driver.begin(token) }
        let ended = driver.finish(3).sorted { $0.token < $1.token }
        #expect(ended.map(\.status) == [200, 201, 201])
        #expect(server.acceptedCount == 2)
        #expect(driver.run { driver.pool.connectionCount == 1 })
        driver.pool.close()
    }

    @Test("A refused stream is repeated at once; the fourth refusal is a failure, and not in doubt")
    func refused() throws {
        let counts = Guarded<[String: Int]>([:])
        let server = try HTTP2Wire.plain.server { peer in
            while true {
                let call = try peer.readCall()
                let path = call[":path"] ?? ""
                let count = counts.withLock { counts in
                    counts[path, default: 0] += 1
                    return counts[path, default: 0]
                }
                if path == "/never" || count < 3 {
                    try peer.reset(call.stream, .refusedStream)
                } else {
                    try peer.answer(call.stream)
                }
            }
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        #expect(driver.call(request: "GET /later HTTP/1.1\r\nHost: here\r\n\r\n")?.status == 200)
        let ended = try #require(driver.call(request: "GET /never HTTP/1.1\r\nHost: here\r\n\r\n"))
        #expect(ended.failure == .connectionReset && !ended.isSent)
        #expect(counts.withLock { $0 } == ["/later": 3, "/never": 4] && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test(
        "A stream with another reset fails its call alone, which is in doubt",
        arguments: [
            (HTTP2Peer.Code.internalError, FailureKind.connectionReset), (.cancel, .connectionReset),
            (.http11Required, .brokenHTTP),
        ])
    func reset(code: HTTP2Peer.Code, kind: FailureKind) throws {
        let server = try HTTP2Wire.plain.server { peer in
            try peer.reset(try peer.readCall().stream, code)
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        let ended = try #require(driver.call())
        #expect(ended.failure == kind && ended.isSent)
        #expect(driver.call()?.status == 200 && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A connection that dies fails its calls, and they are in doubt", arguments: HTTP2Wire.allCases)
    func death(wire: HTTP2Wire) throws {
        let first = First()
        let server = try wire.server { peer in
            guard first.take() else { return try peer.serve() }
            for _ in 1...3 { _ = try peer.readCall() }
        }
        defer { server.stop() }
        let driver = try wire.driver(server, limit: 1)
        for token in 1...UInt64(3) { driver.begin(token) }
        let ended = driver.finish(3)
        #expect(ended.allSatisfy { $0.failure == .connectionReset && $0.isSent })
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }

    @Test("A silent connection gets a PING, takes no call until it answers, and is given up when it does not")
    func silence() throws {
        let first = First()
        let server = try HTTP2Wire.plain.server { peer in
            guard first.take() else { return try peer.serve() }
            _ = try peer.readCall()
            let ping = try peer.readFrame(Frame.ping)
            try peer.write(Frame(type: Frame.ping, flags: 1, payload: ping.payload))
            peer.answersPings = false
            _ = try peer.readFrame(Frame.ping)
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        driver.begin(1, milliseconds: 600_000)
        #expect(driver.run { driver.pool.sharedConnectionCount == 1 && driver.pool.waitingCount == 0 })
        driver.ahead += (SharedConnections.silence + .seconds(1)).count
        // It answers, and gets another PING after the next silence.
        #expect(driver.run { !driver.hasFreePlace })
        #expect(driver.run { driver.hasFreePlace })
        driver.ahead += (SharedConnections.silence + .seconds(1)).count
        #expect(driver.run { !driver.hasFreePlace })
        driver.begin(2)
        driver.ahead += (SharedConnections.patience + .seconds(1)).count
        let ended = driver.finish(2).sorted { $0.token < $1.token }
        #expect(ended[0].failure == .connectionReset && ended[0].isSent && ended[1].status == 200)
        driver.pool.close()
    }

    @Test("An answer without a valid status, or too large, costs its call alone, and the broken rule is named")
    func brokenAnswers() throws {
        let heads: [(fields: [(String, String)], rule: String)] = [
            ([("x", "y")], "9113, 8.3.2"), ([(":status", "20")], "9113, 8.3.2"), ([(":status", "+20")], "9113, 8.3.2"),
            ([(":status", "200"), (":status", "200")], "9113, 8.3"), ([("x", "y"), (":status", "200")], "9113, 8.3"),
            ([(":path", "/")], "9113, 8.3"), ([(":status", "103")], "9113, 8.1"),
            ([(":status", "700")], "between 100 and 599"),
        ]
        let server = try HTTP2Wire.plain.server { peer in
            for head in heads {
                let payload = head.fields.flatMap { HTTP2Peer.literal($0.0, $0.1) }
                let stream = try peer.readCall().stream
                try peer.write(Frame(type: Frame.headers, flags: 5, stream: stream, payload: payload))
            }
            let call = try peer.readCall()
            // More than 64 KiB of fields, in few enough bytes for a small frame.
            let name = HTTP2Peer.literal("x", String(repeating: "y", count: 4_000))
            // With 0x40 it goes to the table, and 0x80 + 62 is the table's newest.
            let block = [0x88, 0x40] + name.dropFirst() + [UInt8](repeating: 0xBE, count: 20)
            try peer.write(Frame(type: Frame.headers, flags: 5, stream: call.stream, payload: block))
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        for rule in heads.map(\.rule) + ["64 KiB"] {
            let ended = try #require(driver.call())
            #expect(ended.failure == .brokenHTTP && ended.isSent && ended.body.contains(rule), "\(rule): \(ended.body)")
        }
        #expect(driver.call()?.status == 200 && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A status that came with its fields counts, whatever else is wrong with its answer")
    func oddAnswers() throws {
        let odd: [(status: Int, fields: [(String, String)], body: String)] = [
            (204, [("content-length", "7")], ""), (204, [("content-length", "2")], "hi"),
            (204, [("content-length", "0")], ""), (304, [("content-length", "2")], "hi"),
            (200, [("content-length", "7")], "hi"), (200, [("content-length", "x")], ""),
            (503, [("content-length", "1"), ("content-length", "2")], ""), (200, [("connection", "close")], ""),
            (200, [("transfer-encoding", "chunked")], "hi"), (200, [("X-Large", "1")], ""),
            (200, [("x ", "a\u{0}b")], ""),
        ]
        let server = try HTTP2Wire.plain.server { peer in
            for one in odd {
                try peer.answer(try peer.readCall().stream, status: one.status, one.fields, body: one.body)
            }
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        for one in odd { #expect(driver.call()?.status == one.status, "\(one)") }
        #expect(driver.call()?.status == 200 && server.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("An answer that is cut off gives its status, by a reset, a lost connection and a deadline alike")
    func cutAnswers() throws {
        let count = Guarded(0)
        let server = try HTTP2Wire.plain.server { peer in
            while true {
                let stream = try peer.readCall().stream
                try peer.write(HTTP2Peer.head(stream, status: 200))
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { try peer.reset(stream, .internalError) }
                if number == 2 { throw ScriptedPeer.Ended() }
            }
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        for (failure, time) in [
            (FailureKind.connectionReset, Int64(20_000)), (.connectionReset, 20_000), (.timeout, 200),
        ] {
            let ended = try #require(driver.call(milliseconds: time))
            #expect(ended.failure == failure && ended.status == 0 && ended.isSent)
            #expect(ended.body.hasSuffix(": a 200 whose body was cut off"), "\(ended.body)")
        }
        driver.pool.close()
    }

    enum Flood: String, CaseIterable, CustomTestStringConvertible {
        case settings, ping, pingAcknowledgements, resets, emptyData, windowUpdates, unknown, continuations
        case longContinuations, interimAnswers, priorities, goAways, bodyOfNobody

        var testDescription: String { rawValue }

        func write(_ peer: HTTP2Peer, _ stream: UInt32) throws {
            switch self {
            case .settings: try many(peer, Frame(type: Frame.settings))
            case .ping: try many(peer, Frame(type: Frame.ping, payload: [0, 0, 0, 0, 0, 0, 0, 0]))
            case .pingAcknowledgements:
                try many(peer, Frame(type: Frame.ping, flags: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]))
            case .resets: try many(peer, Frame(type: Frame.reset, stream: stream, payload: [0, 0, 0, 8]))
            case .emptyData:
                try peer.write(HTTP2Peer.head(stream, status: 200))
                try many(peer, Frame(type: Frame.data, stream: stream))
            case .windowUpdates: try many(peer, Frame(type: Frame.windowUpdate, payload: [0, 0, 0, 1]))
            case .unknown: try many(peer, Frame(type: 0xBB, payload: [1]))
            case .continuations:
                try peer.write(Frame(type: Frame.headers, stream: stream, payload: [0x88]))
                try many(peer, Frame(type: Frame.continuation, stream: stream))
            case .longContinuations:
                try peer.write(Frame(type: Frame.headers, stream: stream, payload: [0x88]))
                let field = HTTP2Peer.literal("x", String(repeating: "y", count: 15_000))
                try many(peer, Frame(type: Frame.continuation, stream: stream, payload: field))
            case .interimAnswers: try many(peer, HTTP2Peer.head(stream, status: 103))
            case .priorities: try many(peer, Frame(type: 2, stream: stream, payload: [0, 0, 0, 0, 1]))
            case .goAways: while true { try peer.goAway(last: stream) }
            case .bodyOfNobody:
                try peer.write(HTTP2Peer.head(stream, status: 200))
                let piece = [UInt8](repeating: 0, count: 16_000)
                try many(peer, Frame(type: Frame.data, flags: 8, stream: stream + 2, payload: piece))
            }
        }

        private func many(_ peer: HTTP2Peer, _ frame: Frame) throws {
            while true { try peer.write([Frame](repeating: frame, count: 64)) }
        }
    }

    @Test(
        "A peer that floods loses the connection, and the next call uses another one", arguments: Flood.allCases
    )
    func floods(flood: Flood) throws {
        let first = First()
        let server = try HTTP2Wire.plain.server { peer in
            guard first.take() else { return try peer.serve() }
            try flood.write(peer, try peer.readCall().stream)
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        let ended = try #require(driver.call(milliseconds: 60_000))
        #expect(ended.failure == .brokenHTTP || ended.failure == .connectionReset)
        #expect(driver.run { driver.pool.connectionCount == 0 })
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }
}
