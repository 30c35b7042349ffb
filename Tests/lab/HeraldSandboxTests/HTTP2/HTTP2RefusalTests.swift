import HeraldHTTP
import TestSupport
import Testing

private typealias Frame = HTTP2Peer.Frame

/// What a server must refuse, by section of RFC 9113.
@Suite("What the HTTP server refuses over HTTP/2")
struct HTTP2RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        fileprivate var frames: [HTTP2Peer.Frame]
        fileprivate var code: HTTP2Peer.Code

        fileprivate init(_ name: String, _ code: HTTP2Peer.Code, _ frames: Frame...) {
            testDescription = name
            self.code = code
            self.frames = frames
        }
    }

    private static func get(_ stream: UInt32, _ path: String = "/") -> Frame {
        var head = HTTP2Peer.head(stream, "GET", path)
        head.flags |= Frame.endStream
        return head
    }

    /// Each costs the connection.
    private static let ofConnection: [Case] = [
        Case(
            "4.2: a frame that is larger than allowed", .frameSizeError, get(1),
            Frame(type: Frame.data, stream: 1, payload: [UInt8](repeating: 0, count: 16_385))),
        Case(
            "4.3: a head that cannot be unpacked", .compressionError,
            Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0x80])),
        Case(
            "5.1: DATA on a stream that was never opened", .protocolError,
            Frame(type: Frame.data, stream: 1, payload: [0])),
        Case(
            "5.1: RST_STREAM on a stream that was never opened", .protocolError,
            Frame(type: Frame.reset, stream: 1, payload: HTTP2Peer.number(8))),
        Case("5.1: WINDOW_UPDATE on a stream that was never opened", .protocolError, .windowUpdate(1, by: 1)),
        Case("5.1.1: a stream with the server's number", .protocolError, get(2)),
        Case("6.1: DATA on the connection", .protocolError, Frame(type: Frame.data, payload: [0])),
        Case(
            "6.1: more padding than there is", .protocolError, HTTP2Peer.head(1, "POST", "/"),
            Frame(type: Frame.data, flags: 8, stream: 1, payload: [9, 0])),
        Case("6.2: HEADERS on the connection", .protocolError, get(0)),
        Case(
            "6.4: RST_STREAM of another length", .frameSizeError, get(1),
            Frame(type: Frame.reset, stream: 1, payload: [0])),
        Case("6.5: SETTINGS on a stream", .protocolError, Frame(type: Frame.settings, stream: 1)),
        Case("6.5: SETTINGS of another length", .frameSizeError, Frame(type: Frame.settings, payload: [0])),
        Case(
            "6.5: an acknowledgement with content", .frameSizeError,
            Frame(type: Frame.settings, flags: 1, payload: [0, 3, 0, 0, 0, 1])),
        Case("6.5.2: ENABLE_PUSH of 2", .protocolError, .settings([2: 2])),
        Case("6.5.2: INITIAL_WINDOW_SIZE above the largest", .flowControlError, .settings([4: 1 << 31])),
        Case("6.5.2: MAX_FRAME_SIZE below the smallest", .protocolError, .settings([5: 16_383])),
        Case(
            "6.6: PUSH_PROMISE of a client", .protocolError, get(1),
            Frame(type: Frame.pushPromise, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x82])),
        Case("6.7: PING of another length", .frameSizeError, Frame(type: Frame.ping, payload: [0])),
        Case(
            "6.7: PING on a stream", .protocolError,
            Frame(type: Frame.ping, stream: 1, payload: [UInt8](repeating: 0, count: 8))),
        Case(
            "6.8: GOAWAY on a stream", .protocolError,
            Frame(type: Frame.goAway, stream: 1, payload: [UInt8](repeating: 0, count: 8))),
        Case("6.9: WINDOW_UPDATE of nothing", .protocolError, .windowUpdate(0, by: 0)),
        Case(
            "6.9.1: a window above the largest", .flowControlError, .windowUpdate(0, by: .max >> 1),
            .windowUpdate(0, by: .max >> 1)),
        Case(
            "6.10: CONTINUATION of nothing", .protocolError,
            Frame(type: Frame.continuation, flags: 4, stream: 1, payload: [0x82])),
        Case(
            "6.10: another frame within a head", .protocolError,
            Frame(type: Frame.headers, flags: 1, stream: 1, payload: [0x82]),
            Frame(type: Frame.ping, payload: [UInt8](repeating: 0, count: 8))),
    ]

    @Test("frames against the rules cost the connection, with the code that says why", arguments: ofConnection)
    func refusesFrames(refused: Case) throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        try client.peer.write(refused.frames)
        #expect(try client.readGoAway().code == refused.code)
        client.peer.readToEnd()
        #expect(try HTTP2Client(port: server.port).request(1).status == 200)
    }

    private static func head(_ fields: [(String, String)], isWhole: Bool = true) -> Frame {
        Frame(type: Frame.headers, flags: isWhole ? 5 : 4, stream: 1, payload: fields.flatMap(HTTP2Peer.literal))
    }

    private static let proper = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "here")]

    /// Each costs its stream.
    private static let ofStream: [Case] = [
        Case("8.2.1: a name with a capital letter", .protocolError, head(proper + [("X-One", "1")])),
        Case("8.2.1: a value with a line break", .protocolError, head(proper + [("x-one", "1\r\nx: 2")])),
        Case("8.2.2: a field of the connection", .protocolError, head(proper + [("connection", "close")])),
        Case("8.2.2: TE of anything but trailers", .protocolError, head(proper + [("te", "gzip")])),
        Case("8.3: a pseudo-header that is unknown", .protocolError, head(proper + [(":other", "1")])),
        Case("8.3: one of an answer", .protocolError, head(proper + [(":status", "200")])),
        Case("8.3: one behind other fields", .protocolError, head([("x-one", "1")] + proper)),
        Case("8.3.1: one that is there twice", .protocolError, head(proper + [(":path", "/")])),
        Case("8.3.1: none for the path", .protocolError, head(proper.filter { $0.0 != ":path" })),
        Case("8.3.1: an empty path", .protocolError, head(proper.map { $0.0 == ":path" ? (":path", "") : $0 })),
        Case(
            "8.1.1: a body that is longer than announced", .protocolError,
            head(proper + [("content-length", "1")], isWhole: false),
            Frame(type: Frame.data, flags: 1, stream: 1, payload: [0, 0])),
        Case(
            "8.1.1: a body that is shorter than announced", .protocolError,
            head(proper + [("content-length", "3")], isWhole: false),
            Frame(type: Frame.data, flags: 1, stream: 1, payload: [0, 0])),
        Case(
            "8.1: trailers that end nothing", .protocolError, head(proper, isWhole: false),
            head([("x-one", "1")], isWhole: false)),
    ]

    @Test("requests against the rules of HTTP cost their stream, and the handler sees none", arguments: ofStream)
    func refusesRequests(refused: Case) throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        try client.peer.write(refused.frames)
        #expect(try client.readReset(1) == refused.code)
        #expect(try client.request(3).status == 200)
    }

    @Test("more streams than are allowed are refused, and may be made again")
    func tooManyStreams() throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        for number in 0...UInt32(100) { try client.peer.write(Self.get(2 * number + 1, "/hang")) }
        #expect(try client.readReset(201) == .refusedStream)
    }

    /// What a client may send without end, and the most of it that is taken.
    private static let floods: [Case] = [
        Case("PING", .enhanceYourCalm, Frame(type: Frame.ping, payload: [UInt8](repeating: 0, count: 8))),
        Case("SETTINGS", .enhanceYourCalm, .settings([3: 1])),
        Case("PRIORITY", .enhanceYourCalm, Frame(type: Frame.priority, stream: 3, payload: [0, 0, 0, 0, 1])),
        Case("WINDOW_UPDATE", .enhanceYourCalm, .windowUpdate(0, by: 1)),
        Case("empty DATA", .enhanceYourCalm, Frame(type: Frame.data, stream: 1)),
    ]

    @Test("frames without end, which ask for nothing, cost the connection and nothing else", arguments: floods)
    func flood(kind: Case) throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        try client.peer.write(HTTP2Peer.head(1, "POST", "/"))
        for _ in 0..<20 { try? client.peer.write((0..<100).flatMap { _ in kind.frames }) }
        #expect(try client.readGoAway().code == kind.code)
        client.peer.readToEnd()
        #expect(try HTTP2Client(port: server.port).request(1).status == 200)
    }

    @Test(
        "bytes without end that belong to no request cost the connection",
        arguments: [(UInt8(99), HTTP2Peer.Code.enhanceYourCalm), (HTTP2Peer.Frame.data, .streamClosed)])
    func uselessBytes(kind: UInt8, code: HTTP2Peer.Code) throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        #expect(try client.request(1).status == 200)
        let useless = Frame(type: kind, stream: 1, payload: [UInt8](repeating: 0, count: 16_384))
        for _ in 0..<600 { try? client.peer.write(useless) }
        #expect(try client.readGoAway().code == code)
        client.peer.readToEnd()
    }

    @Test("calls that are reset as soon as they are made cost the connection, before they are many")
    func rapidReset() throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        let reset = HTTP2Peer.number(HTTP2Peer.Code.cancel.rawValue)
        for number in 0..<UInt32(3_000) {
            try? client.peer.write([
                Self.get(2 * number + 1, "/hang"), Frame(type: Frame.reset, stream: 2 * number + 1, payload: reset),
            ])
        }
        let (last, code) = try client.readGoAway()
        #expect(last < 2 * 1_100 && code != HTTP2Peer.Code.none)
        #expect(try HTTP2Client(port: server.port).request(1).status == 200)
    }

    @Test("a head without end costs the connection")
    func endlessHead() throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        try client.peer.write(Frame(type: Frame.headers, flags: 1, stream: 1, payload: [0x82]))
        let piece = Frame(type: Frame.continuation, stream: 1, payload: HTTP2Peer.literal("x", "y"))
        for _ in 0..<200 { try? client.peer.write([piece]) }
        client.peer.readToEnd()
        #expect(try HTTP2Client(port: server.port).request(1).status == 200)
    }

    @Test("hundreds of calls that are answered, with all that goes with them, are no flood")
    func honest() throws {
        let server = try Self.server()
        let client = try HTTP2Client(port: server.port)
        for number in 0..<UInt32(600) {
            try client.peer.write(
                (0..<8).map { _ in Frame(type: Frame.ping, flags: 1, payload: [UInt8](repeating: 0, count: 8)) })
            #expect(try client.request(2 * number + 1).status == 200)
        }
    }

    private static func server() throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        configuration.speaksHTTP2 = true
        return try HTTPServer(configuration) { $0.target.path == "/hang" ? .hang : .respond(.text("here")) }
    }
}
