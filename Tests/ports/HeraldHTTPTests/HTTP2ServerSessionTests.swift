import HeraldBytes
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

private typealias Frame = HTTP2Peer.Frame

@Suite("A server's session over HTTP/2")
struct HTTP2ServerSessionTests {
    /// One connection of a server without a socket.
    private final class Fixture {
        var session: HTTP2ServerSession?
        let parked: ParkedConnections
        private(set) var said: [UInt8] = []
        let streams = Guarded<[HTTPStream]>([])

        init() throws {
            let limits = ConnectionTable.Limits(
                connections: 1, ofNetwork: 0, reserved: 0, idleTimeout: .seconds(1), requestTimeout: .seconds(1))
            let signal = try Wakeup()
            parked = ParkedConnections(OpenConnections(limits, signal: signal), signal: signal)
            let requests = RequestService(
                handler: { [streams] in Self.answer($0, streams) }, parked: parked, bodyLimitBytes: 50,
                bodyRule: { $0.target.path == "/no" ? .refuse(.text("no", status: 401)) : .read(limitBytes: 100) })
            let peer = try #require(HTTPPeer("127.0.0.1"))
            session = HTTP2ServerSession(requests, limits, peer: peer, mailbox: try StreamMailbox(), number: 1)
        }

        private static func answer(_ request: HTTPRequest, _ streams: Guarded<[HTTPStream]>) -> HTTPAnswer {
            switch request.target.path {
            case "/hang": return .hang
            case "/close": return .hangUp()
            case "/later": return .respondLater(.text("later"), after: .seconds(60))
            case "/ready": return .respondWhenReady { $0.respond(.text("ready")) }
            case "/stream":
                let stream = HTTPStream()
                stream.send([1, 2, 3])
                streams.withLock { $0.append(stream) }
                return .stream(HTTPResponse(status: 200), stream)
            default: return .respond(HTTPResponse(status: 200, body: request.body))
            }
        }

        /// Hands bytes over, and takes what is answered; false when the connection is over.
        func receive(_ bytes: some Sequence<UInt8>) -> Bool {
            guard let session else { return false }
            guard Array(bytes).withUnsafeBytes({ session.receive($0) }) else { return false }
            var said: [UInt8] = []
            let written = session.write { bytes in
                said += bytes
                return .bytes(bytes.count)
            }
            self.said += said
            if case .failed = written { return false }
            return !session.isOver
        }

        func sweep(after span: Milliseconds) {
            session?.sweep(now: SystemClock.monotonic().advanced(by: span))
        }
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    private static let paths = ["/", "/hang", "/close", "/later", "/ready", "/stream", "/no", "/%"]

    /// A client that knows the rules, and breaks one now and then.
    private struct Client {
        var chance: SplitMix64
        private(set) var newest: UInt32 = 0
        /// Streams whose request goes on.
        private var open: [UInt32] = []

        init(seed: UInt64) { chance = SplitMix64(seed: seed) }

        private mutating func number(_ range: ClosedRange<UInt32>) -> UInt32 { .random(in: range, using: &chance) }

        private mutating func bytes(_ most: UInt32) -> [UInt8] {
            (0..<number(0...most)).map { _ in UInt8.random(in: 0...255, using: &chance) }
        }

        mutating func frame() -> Frame {
            let known = newest > 0 ? number(0...(newest / 2)) * 2 + 1 : 0
            let kind = number(0...99)
            if kind < 40 || open.isEmpty, kind < 95 { return request() }
            let current = open.randomElement(using: &chance) ?? 0
            switch kind {
            case 40..<65: return data(current)
            case 65..<70:
                open.removeAll { $0 == current }
                return Frame(type: Frame.headers, flags: 5, stream: current, payload: HTTP2Peer.literal("x", "y"))
            case 70..<75:
                open.removeAll { $0 == current }
                return Frame(type: Frame.reset, stream: current, payload: HTTP2Peer.number(8))
            case 75..<80:
                return Frame(type: Frame.windowUpdate, stream: current, payload: HTTP2Peer.number(number(1...9)))
            case 80..<85: return Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 8))
            case 85..<90: return Frame(type: Frame.settings, payload: [0, 4] + HTTP2Peer.number(number(0...99)))
            case 90..<98: return Frame(type: UInt8(number(10...20)), stream: known, payload: bytes(20))
            case 98:
                return Frame(
                    type: UInt8(number(0...9)), flags: UInt8(number(0...255)), stream: known, payload: bytes(20))
            default: return Frame(type: Frame.headers, flags: 4, stream: newest + 2, payload: bytes(30))
            }
        }

        private mutating func request() -> Frame {
            newest += newest == 0 ? 1 : 2
            let fields = number(0...3) == 0 ? [("content-length", "\(number(0...120))")] : []
            var head = HTTP2Peer.head(newest, "POST", paths.randomElement(using: &chance) ?? "/", fields)
            if number(0...1) == 0 { head.flags |= Frame.endStream } else { open.append(newest) }
            return head
        }

        private mutating func data(_ stream: UInt32) -> Frame {
            let flags = UInt8(number(0...1))
            if flags == Frame.endStream { open.removeAll { $0 == stream } }
            return Frame(type: Frame.data, flags: flags, stream: stream, payload: bytes(40))
        }
    }

    /// The frames in what a server said; `nil` when the last is cut off.
    private static func frames(in said: [UInt8]) -> [Frame]? {
        var frames: [Frame] = []
        var place = 0
        while place < said.count {
            guard place + 9 <= said.count else { return nil }
            let count = said[place..<place + 3].reduce(0) { $0 << 8 | Int($1) }
            let stream = said[place + 5..<place + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard place + 9 + count <= said.count else { return nil }
            frames.append(
                Frame(
                    type: said[place + 3], flags: said[place + 4], stream: stream,
                    payload: Array(said[place + 9..<place + 9 + count])))
            place += 9 + count
        }
        return frames
    }

    @Test("Whatever a client says: whole frames are answered, once for each request, and nothing stays behind")
    func anything() throws {
        var answers = 0
        for seed in UInt64(1)...300 {
            var client = Client(seed: seed)
            let fixture = try Fixture()
            var isOpen = fixture.receive(Self.preface)
            #expect(isOpen)
            for number in 0..<60 where isOpen {
                let bytes = HTTP2Peer.bytes(of: client.frame())
                let cut = Int.random(in: 0...bytes.count, using: &client.chance)
                isOpen = fixture.receive(bytes.prefix(cut)) && fixture.receive(bytes.dropFirst(cut))
                if number % 20 == 19 { fixture.sweep(after: .seconds(2)) }
            }
            let frames = try #require(Self.frames(in: fixture.said), "seed \(seed)")
            #expect(frames.first?.type == Frame.settings, "seed \(seed)")
            for (stream, said) in Dictionary(grouping: frames, by: \.stream) where stream > 0 {
                let heads = said.filter { $0.type == Frame.headers }
                let end = said.firstIndex { $0.flags & Frame.endStream != 0 && $0.type <= Frame.headers }
                #expect(
                    stream <= client.newest + 2 && stream % 2 == 1 && heads.count <= 1, "seed \(seed), stream \(stream)"
                )
                let rest = end.map { said[($0 + 1)...] } ?? []
                #expect(rest.allSatisfy { $0.type == Frame.reset }, "seed \(seed), stream \(stream)")
                answers += heads.count
            }
            fixture.session = nil
            #expect(fixture.streams.withLock { $0.allSatisfy { !$0.isOpen } }, "seed \(seed)")
            fixture.parked.stop()
        }
        #expect(answers > 1_000)
    }
}
