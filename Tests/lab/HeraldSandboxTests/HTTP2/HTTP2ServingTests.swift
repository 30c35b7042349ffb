import Foundation
import HeraldHTTP
import HeraldThreads
import TestSupport
import Testing

@Suite("The HTTP server over HTTP/2")
struct HTTP2ServingTests {
    private static func server(
        _ change: (inout HTTPServer.Configuration) -> Void = { _ in }, handler: @escaping HTTPServer.Handler
    ) throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        configuration.speaksHTTP2 = true
        // A test may have to wait longer for its turn than a client may be silent.
        configuration.idleTimeoutSeconds = 3_600
        configuration.requestTimeoutSeconds = 3_600
        change(&configuration)
        return try HTTPServer(configuration, handler: handler)
    }

    @Test("answers with the handler's status, headers and body, and hands over what was sent")
    func answers() throws {
        let server = try Self.server { request in
            let host = request.headers["Host"] ?? ""
            let text = "\(request.method) \(request.target.segments) \(host) \(request.headers["COOKIE"] ?? "")"
            return .respond(
                HTTPResponse(
                    status: 201, headers: ["X-Seen": text, "Connection": "close"], body: request.body))
        }
        let client = try HTTP2Client(port: server.port)
        for (number, text) in ["one", "", String(repeating: "x", count: 16_000)].enumerated() {
            let answer = try client.request(
                UInt32(2 * number + 1), "POST", "/a/%C3%BC", [("cookie", "a=1"), ("cookie", "b=2")], body: text)
            #expect(answer.status == 201 && answer.text == text)
            #expect(answer["x-seen"] == #"POST ["a", "ü"] 127.0.0.1 a=1; b=2"#)
            #expect(answer["content-length"] == "\(text.utf8.count)" && answer["date"] != nil)
            #expect(answer["connection"] == nil)
        }
    }

    @Test("answers HEAD without a body, 204 without a length, bad targets with 400, bad fields with 500")
    func withoutBody() throws {
        let server = try Self.server { request in
            switch request.target.path {
            case "/204": .respond(HTTPResponse(status: 204))
            case "/break": .respond(HTTPResponse(status: 200, headers: ["X": "a\r\nB: c"]))
            default: .respond(.text("four"))
            }
        }
        let client = try HTTP2Client(port: server.port)
        let head = try client.request(1, "HEAD")
        #expect(head.status == 200 && head["content-length"] == "4" && head.body.isEmpty)
        let empty = try client.request(3, "GET", "/204")
        #expect(empty.status == 204 && empty["content-length"] == nil)
        #expect(try client.request(5, "GET", "/%zz").status == 400)
        #expect(try client.request(7, "GET", "/break").status == 500)
    }

    @Test("answers later, when another thread says so, or not at all, and holds up no other stream")
    func later() async throws {
        let kept = Guarded<[HTTPResponder]>([])
        let server = try Self.server { request in
            switch request.target.path {
            case "/later": .respondLater(.text("later"), after: .milliseconds(50))
            case "/ready": .respondWhenReady { responder in kept.withLock { $0.append(responder) } }
            case "/close": .hangUp(after: .milliseconds(10))
            case "/hang": .hang
            default: .respond(.text("here"))
            }
        }
        let client = try HTTP2Client(port: server.port)
        for (number, path) in ["/ready", "/hang", "/close"].enumerated() {
            try client.peer.call(UInt32(2 * number + 1), "GET", path)
        }
        #expect(try await eventually { kept.withLock { $0.count } == 1 })
        #expect(try client.readReset(5) == .internalError)
        #expect(try client.request(7, "GET", "/later").text == "later")
        #expect(try client.request(9).text == "here")
        for responder in kept.withLock({ $0 }) { responder.respond(.text("ready")) }
        #expect(try client.peer.readCall().text == "ready")
        // Of a stream that its client has reset nothing is left to go wrong.
        try client.peer.reset(3, .cancel)
        #expect(try client.request(11).text == "here")
    }

    @Test("answers 413 to a body over the limit, announced or not, refuses one by its head, and serves on")
    func bodyLimit() throws {
        let server = try Self.server {
            $0.bodyLimitBytes = 10
            $0.bodyRule = { $0.target.path == "/no" ? .refuse(.text("no", status: 401)) : .read(limitBytes: 100) }
        } handler: {
            .respond(.text("\($0.body.count)"))
        }
        let client = try HTTP2Client(port: server.port)
        #expect(try client.request(1, "POST", body: "0123456789").text == "10")
        #expect(try client.request(3, "POST", body: "0123456789a").status == 413)
        // The rest of a body is not wanted, and neither is it waited for.
        let announced = HTTP2Peer.head(5, "POST", "/", [("content-length", "11")])
        for (head, status) in [(announced, 413), (HTTP2Peer.head(7, "POST", "/no"), 401)] {
            try client.peer.write(head)
            #expect(try client.peer.readCall().status == status)
            #expect(try client.readReset(head.stream) == HTTP2Peer.Code.none)
        }
        #expect(try client.request(9, "GET", "/no").status == 200)
        #expect(try client.request(11, "POST", body: "ok").text == "2")
    }

    @Test("says 100 to a client that waits for it, and takes a body in as many pieces as it likes")
    func goOn() throws {
        let server = try Self.server { .respond(.text("\($0.body.count)")) }
        let client = try HTTP2Client(port: server.port)
        try client.peer.write(HTTP2Peer.head(1, "POST", "/", [("expect", "100-continue")]))
        let interim = try client.peer.readFrame(HTTP2Peer.Frame.headers)
        #expect(interim.flags & HTTP2Peer.Frame.endStream == 0)
        for _ in 0..<2_000 {
            try client.peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.data, stream: 1, payload: [1]))
        }
        // Trailers end it, too.
        let trailers = HTTP2Peer.literal("x-check", "1")
        try client.peer.write(
            HTTP2Peer.Frame(type: HTTP2Peer.Frame.headers, flags: 5, stream: 1, payload: trailers))
        #expect(try client.peer.readCall().text == "2000")
    }

    @Test("sends a large answer as its client allows, and a stream piece by piece until its client leaves")
    func flowControl() async throws {
        let streams = Guarded<[HTTPStream]>([])
        let server = try Self.server { request in
            if request.target.path == "/large" {
                return .respond(HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: 300_000)))
            }
            let stream = HTTPStream()
            streams.withLock { $0.append(stream) }
            return .stream(HTTPResponse(status: 200), stream)
        }
        let client = try HTTP2Client(port: server.port)
        try client.peer.call(1, "GET", "/large")
        var count = 0
        while count < 300_000 {
            let frame = try client.peer.readFrame(HTTP2Peer.Frame.data)
            count += frame.payload.count
            for stream: UInt32 in [0, 1] where !frame.payload.isEmpty {
                try client.peer.write(.windowUpdate(stream, by: UInt32(frame.payload.count)))
            }
        }
        #expect(count == 300_000)
        try client.peer.call(3, "GET", "/stream")
        #expect(try await eventually { streams.withLock { $0.count } == 1 })
        let stream = try #require(streams.withLock { $0.first })
        for number in 0..<10 {
            stream.send(Array("piece \(number)".utf8))
            #expect(try client.peer.readFrame(HTTP2Peer.Frame.data).payload == Array("piece \(number)".utf8))
        }
        try client.peer.reset(3, .cancel)
        #expect(try await eventually { !stream.isOpen })
        try client.peer.call(5, "GET", "/stream")
        #expect(try await eventually { streams.withLock { $0.count } == 2 })
        streams.withLock { $0.last }?.finish()
        #expect(try client.peer.readCall().status == 200)
    }

    @Test("says goodbye when it stops: what is answered arrives, what is not all there may be called again")
    func stops() async throws {
        let asked = Guarded(0)
        let server = try Self.server { request in
            asked.withLock { $0 += 1 }
            return request.target.path == "/hang" ? .hang : .respondLater(.text("late"), after: .seconds(600))
        }
        let client = try HTTP2Client(port: server.port)
        try client.peer.call(1, "GET", "/late")
        try client.peer.call(3, "GET", "/hang")
        try client.peer.write(HTTP2Peer.head(5, "POST", "/"))
        // Answered behind the others: all of them have arrived.
        try client.peer.write(HTTP2Peer.Frame(type: HTTP2Peer.Frame.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]))
        _ = try client.peer.readFrame(HTTP2Peer.Frame.ping)
        #expect(asked.withLock { $0 } == 2)
        server.stop()
        var codes: [UInt32: HTTP2Peer.Code] = [:]
        var texts: [String] = []
        while let frame = try? client.peer.readFrame() {
            switch frame.type {
            case HTTP2Peer.Frame.reset: codes[frame.stream] = HTTP2Peer.Code(rawValue: UInt32(frame.payload[3]))
            case HTTP2Peer.Frame.data: texts.append(String(decoding: frame.payload, as: UTF8.self))
            case HTTP2Peer.Frame.goAway: #expect(frame.payload == [0, 0, 0, 5, 0, 0, 0, 0])
            default: break
            }
        }
        #expect(codes == [3: .internalError, 5: .refusedStream] && texts == ["late"])
    }

    @Test("closes a connection that is silent or idle, and gives up a request that never becomes complete")
    func deadlines() throws {
        let server = try Self.server {
            $0.idleTimeoutSeconds = 1
            $0.requestTimeoutSeconds = 1
        } handler: { _ in
            .respond(.text("here"))
        }
        let port = server.port
        try PlainHTTP(port: port).waitUntilClosed()
        let half = try PlainHTTP(port: port)
        try half.send("PRI * HTTP/2")
        try half.waitUntilClosed()
        let client = try HTTP2Client(port: port)
        try client.peer.write(HTTP2Peer.head(1, "POST", "/"))
        #expect(try client.readReset(1) == .cancel)
        let (last, code) = try client.readGoAway()
        #expect(last == 1 && code == HTTP2Peer.Code.none)
        client.peer.readToEnd()
    }

    @Test("closes a connection that begins with TLS and goes no further")
    func handshake() throws {
        let identity = try LocalIdentity()
        let server = try Self.server {
            $0.identity = identity
            $0.requestTimeoutSeconds = 1
        } handler: { _ in
            .respond(.text("here"))
        }
        let hello = try TLSClientHello.bytes(offering: ["h2"])
        for count in [0, 1, hello.count / 2, hello.count] {
            let client = try PlainHTTP(port: server.port)
            try client.send(Array(hello.prefix(count)))
            try client.waitUntilClosed()
        }
        // What is agreed on is HTTP/2, so there is no use in another greeting.
        let broken = try PlainHTTP(port: server.port)
        try broken.send(hello + Array("GET / HTTP/1.1\r\n\r\n".utf8))
        try broken.waitUntilClosed()
    }

    @Test("takes as many connections as it may, of either kind, and another when one has left")
    func connectionLimit() throws {
        let server = try Self.server {
            $0.connectionLimit = 2
        } handler: {
            $0.target.path == "/hang" ? .hang : .respond(.text("here"))
        }
        for _ in 0..<3 {
            let hanging = try HTTP2Client(port: server.port)
            try hanging.peer.call(1, "GET", "/hang")
            #expect(try PlainHTTP.request(port: server.port, "GET", "/").text == "here")
            let old = try PlainHTTP(port: server.port)
            try old.sendRequest("GET", "/hang")
            try hanging.peer.reset(1, .cancel)
            #expect(try hanging.request(3).text == "here")
        }
    }

    @Test("answers 431 to a head that is too large, whose rest it does not keep, and serves on")
    func headLimit() throws {
        let server = try Self.server { .respond(.text("\($0.headers.fields.count)")) }
        let client = try HTTP2Client(port: server.port)
        let many = (0..<20).map { ("x-\($0)", String(repeating: "x", count: 3_000)) }
        var rest = HTTP2Peer.head(1, "GET", "/", many).payload[...]
        var frames: [HTTP2Peer.Frame] = []
        while !rest.isEmpty {
            let isFirst = frames.isEmpty
            frames.append(
                HTTP2Peer.Frame(
                    type: isFirst ? HTTP2Peer.Frame.headers : HTTP2Peer.Frame.continuation,
                    flags: isFirst ? HTTP2Peer.Frame.endStream : 0, stream: 1, payload: Array(rest.prefix(16_384))))
            rest = rest.dropFirst(16_384)
        }
        frames[frames.count - 1].flags |= HTTP2Peer.Frame.endHeaders
        try client.peer.write(frames)
        #expect(try client.peer.readCall().status == 431)
        #expect(try client.request(3, "GET", "/", Array(many.prefix(5))).text == "6")
    }
}
