import HeraldThreads
import TestSupport
import Testing

@testable import HeraldHTTP

/// RFC 9113's requirements on a client: h2spec's cases for clients, by its sections and names.
@Suite("The client's side of RFC 9113")
struct HTTP2ConformanceTests {
    typealias Frame = HTTP2Peer.Frame
    typealias Code = HTTP2Peer.Code

    /// The client's duty.
    enum Duty: Sendable {
        /// To end the connection, and give the reason.
        case endConnection(Code)
        /// To end the stream, or the connection, and give the reason.
        case endStream(Code)
        /// To answer a PING, and complete the call.
        case goOn
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var section: String
        var name: String
        var frames: [Frame]
        var duty = Duty.endConnection(.protocolError)
        /// Whether the frames are an answer already.
        var isAnswer = false

        var testDescription: String { "\(section): \(name)" }
    }

    private static let head = HTTP2Peer.head(1, status: 200)
    private static let lastHead = Frame(type: Frame.headers, flags: 5, stream: 1, payload: head.payload)
    /// An unfinished answer.
    private static let openHead = Frame(type: Frame.headers, stream: 1, payload: head.payload)
    private static let more = HTTP2Peer.literal("x-more", "1")
    private static let text = Array("test".utf8)
    private static let reset = Frame(type: Frame.reset, stream: 1, payload: HTTP2Peer.number(Code.cancel.rawValue))
    private static let zeros = [UInt8](repeating: 0, count: 8)

    private static func data(_ stream: UInt32, flags: UInt8 = 1, _ payload: [UInt8] = text) -> Frame {
        Frame(type: Frame.data, flags: flags, stream: stream, payload: payload)
    }

    private static func continuation(_ stream: UInt32 = 1, flags: UInt8 = 4) -> Frame {
        Frame(type: Frame.continuation, flags: flags, stream: stream, payload: more)
    }

    private static let formats = [
        Case(section: "4.1", name: "unknown type", frames: [Frame(type: 0x16, payload: zeros)], duty: .goOn),
        Case(
            section: "4.1", name: "undefined flag", frames: [Frame(type: Frame.ping, flags: 0x16, payload: zeros)],
            duty: .goOn),
        Case(
            section: "4.1", name: "reserved bit",
            frames: [Frame(type: Frame.ping, flags: 0x16, stream: 1 << 31, payload: zeros)], duty: .goOn),
        Case(
            section: "4.2", name: "DATA of 2^14 bytes",
            frames: [head, data(1, [UInt8](repeating: 0x78, count: 16_384))], duty: .goOn, isAnswer: true),
        Case(
            section: "4.2", name: "DATA of more", frames: [head, data(1, [UInt8](repeating: 0x78, count: 16_385))],
            duty: .endStream(.frameSizeError)),
        Case(
            section: "4.2", name: "HEADERS of more",
            frames: [
                Frame(
                    type: Frame.headers, flags: 5, stream: 1,
                    payload: head.payload
                        + (0..<5).flatMap { _ in
                            HTTP2Peer.literal("x", String(repeating: "y", count: 4_000))
                        })
            ], duty: .endConnection(.frameSizeError)),
        Case(
            section: "4.3", name: "broken block",
            frames: [Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0x40])],
            duty: .endConnection(.compressionError)),
    ]

    // nghttp2 forgets a stream that it has closed, and drops further frames. RFC 7540 and h2spec want STREAM_CLOSED
    // there.
    private static let states = [
        Case(section: "5.1", name: "idle: DATA", frames: [data(2)]),
        Case(
            section: "5.1", name: "idle: RST_STREAM",
            frames: [Frame(type: Frame.reset, stream: 2, payload: [0, 0, 0, 8])]),
        Case(
            section: "5.1", name: "idle: WINDOW_UPDATE", frames: [.windowUpdate(2, by: 100)]),
        Case(
            section: "5.1", name: "idle: CONTINUATION", frames: [continuation(2)]),
        Case(
            section: "5.1", name: "reset: DATA", frames: [head, reset, data(1)], duty: .goOn, isAnswer: true),
        Case(
            section: "5.1", name: "reset: HEADERS", frames: [head, reset, lastHead], duty: .goOn, isAnswer: true),
        Case(
            section: "5.1", name: "reset: CONTINUATION", frames: [head, reset, continuation()]),
        Case(section: "5.1", name: "closed: DATA", frames: [lastHead, data(1)], duty: .goOn, isAnswer: true),
        Case(section: "5.1", name: "closed: HEADERS", frames: [lastHead, lastHead], duty: .goOn, isAnswer: true),
        Case(
            section: "5.1", name: "closed: CONTINUATION", frames: [lastHead, continuation()], isAnswer: true),
        Case(
            section: "5.1.1", name: "HEADERS of a stream that is idle",
            frames: [Frame(type: Frame.headers, flags: 5, stream: 101, payload: head.payload)]),
        Case(
            section: "5.1.1", name: "HEADERS of a stream that only a PUSH_PROMISE opens",
            frames: [Frame(type: Frame.headers, flags: 5, stream: 2, payload: head.payload)]),
        Case(
            section: "5.4.1", name: "a PING of a stream ends the connection",
            frames: [Frame(type: Frame.ping, stream: 3, payload: zeros)]),
        Case(section: "5.5", name: "extension", frames: [Frame(type: 0x16, payload: zeros)], duty: .goOn),
    ]

    private static let frames = [
        Case(section: "6.1", name: "DATA of no stream", frames: [data(0)]),
        Case(
            section: "6.1", name: "DATA with more padding than payload", frames: [head, data(1, flags: 9, [6] + text)]),
        Case(
            section: "6.2", name: "HEADERS without an end, and PRIORITY",
            frames: [
                openHead, Frame(type: Frame.priority, stream: 1, payload: [0, 0, 0, 0, 255]), continuation(),
            ]),
        Case(
            section: "6.2", name: "HEADERS of no stream",
            frames: [Frame(type: Frame.headers, flags: 5, stream: 0, payload: head.payload)]),
        Case(
            section: "6.2", name: "HEADERS with more padding than payload",
            frames: [Frame(type: Frame.headers, flags: 8, stream: 1, payload: [255] + head.payload)]),
        Case(
            section: "6.3", name: "PRIORITY of no stream",
            frames: [Frame(type: Frame.priority, payload: [0, 0, 0, 0, 255])]),
        Case(
            section: "6.3", name: "PRIORITY of 4 bytes",
            frames: [Frame(type: Frame.priority, stream: 1, payload: [128, 0, 0, 1])],
            duty: .endStream(.frameSizeError)),
        Case(
            section: "6.4", name: "RST_STREAM of no stream", frames: [Frame(type: Frame.reset, payload: [0, 0, 0, 8])]),
        Case(
            section: "6.4", name: "RST_STREAM of 3 bytes",
            frames: [Frame(type: Frame.reset, stream: 1, payload: [0, 0, 0])],
            duty: .endConnection(.frameSizeError)),
        Case(
            section: "6.5", name: "SETTINGS, acknowledged, with something to say",
            frames: [Frame(type: Frame.settings, flags: 1, payload: [0])], duty: .endConnection(.frameSizeError)),
        Case(
            section: "6.5", name: "SETTINGS of a stream",
            frames: [Frame(type: Frame.settings, stream: 1, payload: [0, 3, 0, 0, 0, 100])]),
        Case(
            section: "6.5", name: "SETTINGS of 3 bytes", frames: [Frame(type: Frame.settings, payload: [0, 3, 0])],
            duty: .endConnection(.frameSizeError)),
        Case(
            section: "6.5.2", name: "INITIAL_WINDOW_SIZE too large", frames: [.settings([4: 1 << 31])],
            duty: .endConnection(.flowControlError)),
        Case(
            section: "6.5.2", name: "MAX_FRAME_SIZE too small", frames: [.settings([5: 16_383])]),
        Case(
            section: "6.5.2", name: "MAX_FRAME_SIZE too large", frames: [.settings([5: 16_777_216])]),
        Case(section: "6.5.2", name: "an unknown setting", frames: [.settings([0xFF: 1])], duty: .goOn),
        Case(
            section: "6.6", name: "PUSH_PROMISE, which we have disabled",
            frames: [Frame(type: Frame.pushPromise, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x82])]),
        Case(
            section: "6.7", name: "PING, acknowledged", frames: [Frame(type: Frame.ping, flags: 1, payload: zeros)],
            duty: .goOn),
        Case(
            section: "6.7", name: "PING of a stream", frames: [Frame(type: Frame.ping, stream: 1, payload: zeros)]),
        Case(
            section: "6.7", name: "PING of 6 bytes", frames: [Frame(type: Frame.ping, payload: [0, 0, 0, 0, 0, 0])],
            duty: .endConnection(.frameSizeError)),
        Case(
            section: "6.9", name: "WINDOW_UPDATE by 0", frames: [.windowUpdate(0, by: 0)]),
        Case(
            section: "6.9", name: "WINDOW_UPDATE by 0 of a stream", frames: [head, .windowUpdate(1, by: 0)],
            duty: .endStream(.protocolError)),
        Case(
            section: "6.9", name: "WINDOW_UPDATE of 3 bytes",
            frames: [Frame(type: Frame.windowUpdate, payload: [0, 0, 1])],
            duty: .endConnection(.frameSizeError)),
        Case(
            section: "6.9.1", name: "too large a window",
            frames: [.windowUpdate(0, by: .max >> 1), .windowUpdate(0, by: .max >> 1)],
            duty: .endConnection(.flowControlError)),
        Case(
            section: "6.9.1", name: "too large a window of a stream",
            frames: [head, .windowUpdate(1, by: .max >> 1), .windowUpdate(1, by: .max >> 1)],
            duty: .endStream(.flowControlError)),
    ]

    private static let continuations = [
        Case(
            section: "6.10", name: "many CONTINUATIONs",
            frames: [
                Frame(type: Frame.headers, flags: 1, stream: 1, payload: head.payload), continuation(flags: 0),
                continuation(),
            ], duty: .goOn, isAnswer: true),
        Case(
            section: "6.10", name: "CONTINUATION, and DATA", frames: [openHead, continuation(flags: 0), data(1)]),
        Case(
            section: "6.10", name: "CONTINUATION of no stream", frames: [openHead, continuation(0)]),
        Case(
            section: "6.10", name: "CONTINUATION behind the end of HEADERS", frames: [head, continuation()]),
        Case(
            section: "6.10", name: "CONTINUATION behind the last", frames: [openHead, continuation(), continuation()]),
        Case(
            section: "6.10", name: "CONTINUATION behind DATA", frames: [openHead, data(1), continuation(flags: 0)]),
    ]

    private static let question = Array("are you?".utf8)

    @Test(
        "A violation ends the connection with the RFC's reason; all other frames cost nothing",
        arguments: formats + states + frames + continuations)
    func duties(of one: Case) throws {
        let heard = Guarded<[Frame]?>(nil)
        let first = First()
        let server = try HTTP2Wire.plain.server { peer in
            guard first.take() else { return try peer.serve() }
            _ = try peer.readCall()
            let frames = try Self.heard(after: one, from: peer)
            heard.withLock { $0 = frames }
            try peer.serve()
        }
        defer { server.stop() }
        let driver = try HTTP2Wire.plain.driver(server)
        let ended = try #require(driver.call())
        #expect(driver.run { heard.withLock { $0 != nil } })
        let frames = heard.withLock { $0 } ?? []
        switch one.duty {
        case .endConnection(let code):
            #expect(frames.last { $0.type == Frame.goAway }?.code == code, "\(frames)")
            #expect(one.isAnswer ? ended.status == 200 : ended.failure != nil && ended.isSent)
            #expect(driver.run { driver.pool.connectionCount == 0 })
        case .endStream(let code):
            #expect(frames.last?.code == code, "\(frames)")
            #expect(ended.failure == .brokenHTTP && ended.isSent)
        case .goOn:
            #expect(frames.last == Frame(type: Frame.ping, flags: 1, payload: Self.question), "\(frames)")
            #expect(frames.allSatisfy { $0.code == nil }, "\(frames)")
        }
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }

    /// The client's frames after a case's frames, until it answers a PING, resets the stream or closes.
    private static func heard(after one: Case, from peer: HTTP2Peer) throws -> [Frame] {
        let ping = Frame(type: Frame.ping, payload: question)
        switch one.duty {
        case .goOn: try peer.write(one.frames + [ping])
        case .endConnection, .endStream: try peer.write(one.frames)
        }
        var heard: [Frame] = []
        while let frame = try? peer.readFrame() {
            // A pool sends a PING of its own after a silence.
            if frame.type == Frame.ping, frame.flags == 0 { continue }
            heard.append(frame)
            if frame.type == Frame.reset { break }
            if frame.payload == question {
                if !one.isAnswer { try peer.answer(1) }
                break
            }
        }
        return heard
    }
}
