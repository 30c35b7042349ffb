import CNGHTTP2

/// HTTP/2 over one connection of a ``ScriptedServer``, frame by frame, valid or not.
///
/// It answers nothing by itself, except the other side's SETTINGS and PING in ``readCall()``.
package final class HTTP2Peer {
    /// One frame.
    package struct Frame: Sendable, Equatable {
        package var type: UInt8
        package var flags: UInt8 = 0
        package var stream: UInt32 = 0
        package var payload: [UInt8] = []

        package init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
            self.type = type
            self.flags = flags
            self.stream = stream
            self.payload = payload
        }

        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let pushPromise: UInt8 = 5
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
        /// A flag of DATA and HEADERS; on SETTINGS and PING it means an acknowledgement.
        package static let endStream: UInt8 = 1
        package static let endHeaders: UInt8 = 4

        /// SETTINGS, by their numbers.
        package static func settings(_ settings: [UInt16: UInt32]) -> Frame {
            let payload = settings.flatMap { [UInt8($0.key >> 8), UInt8($0.key & 0xFF)] + HTTP2Peer.number($0.value) }
            return Frame(type: Self.settings, payload: payload)
        }

        /// Raises the other side's window, on a stream or on the connection (0).
        package static func windowUpdate(_ stream: UInt32, by step: UInt32) -> Frame {
            Frame(type: windowUpdate, stream: stream, payload: HTTP2Peer.number(step))
        }

        /// The reason in a GOAWAY or RST_STREAM; `nil` for other frames.
        package var code: Code? {
            switch type {
            case Self.goAway: Code(rawValue: HTTP2Peer.number(in: payload.dropFirst(4).prefix(4)))
            case Self.reset: Code(rawValue: HTTP2Peer.number(in: payload[...]))
            default: nil
            }
        }
    }

    /// A field of a call's head.
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
        /// Whether tables must not keep it.
        package var isNeverIndexed: Bool
    }

    /// A call, as far as it was read.
    package struct Call: Sendable {
        package var stream: UInt32
        package var fields: [Field]
        package var body: [UInt8] = []
        /// The size of the fields in bytes.
        package var headByteCount = 0
        /// The body as text.
        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The value of the first field of this name.
        package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    /// Error codes of RST_STREAM and GOAWAY.
    package enum Code: UInt32, Sendable {
        case none = 0
        case protocolError = 1
        case internalError = 2
        case flowControlError = 3
        case streamClosed = 5
        case frameSizeError = 6
        case refusedStream = 7
        case cancel = 8
        case compressionError = 9
        case enhanceYourCalm = 11
        case http11Required = 13
    }

    /// Whether PINGs are answered in ``readCall()``.
    package var answersPings = true
    /// Frames read by ``readCall()`` that belong to no call.
    package private(set) var others: [Frame] = []

    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    private let peer: ScriptedPeer
    private var inflater: OpaquePointer?
    private var begun: [UInt32: Call] = [:]

    /// Reads the other side's preface.
    ///
    /// - Parameter settings: The first SETTINGS, by number; `nil` sends none.
    package init(_ peer: ScriptedPeer, settings: [UInt16: UInt32]? = [:]) throws {
        self.peer = peer
        nghttp2_hd_inflate_new(&inflater)
        guard try peer.read(exactly: 24) == Array(Self.preface.utf8) else { throw ScriptedPeer.Ended() }
        if let settings { try writeSettings(settings) }
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
    }

    // MARK: Reading

    /// The next frame.
    package func readFrame() throws -> Frame {
        let head = try peer.read(exactly: 9)
        let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = Self.number(in: head[5...]) & 0x7FFF_FFFF
        return Frame(type: head[3], flags: head[4], stream: stream, payload: try peer.read(exactly: count))
    }

    /// The next complete call.
    package func readCall() throws -> Call {
        while true {
            if let call = try take(try readFrame()) { return call }
        }
    }

    /// Reads until a frame of this type comes.
    package func readFrame(_ type: UInt8) throws -> Frame {
        while true {
            let frame = try readFrame()
            // Every head must be unpacked, or the next ones cannot be.
            if frame.type != type || type == Frame.headers { _ = try take(frame) }
            if frame.type == type { return frame }
        }
    }

    /// Processes a frame; returns the call that it ends.
    private func take(_ frame: Frame) throws -> Call? {
        switch frame.type {
        case Frame.headers:
            var call = Call(stream: frame.stream, fields: try fields(of: frame.payload))
            call.headByteCount = frame.payload.count
            begun[frame.stream] = call
        case Frame.data: begun[frame.stream]?.body += frame.payload
        case Frame.settings where frame.flags == 0:
            try write(Frame(type: Frame.settings, flags: 1))
            return nil
        case Frame.ping where frame.flags == 0 && answersPings:
            try write(Frame(type: Frame.ping, flags: 1, payload: frame.payload))
            others.append(frame)
            return nil
        default:
            others.append(frame)
            return nil
        }
        guard frame.flags & Frame.endStream != 0 else { return nil }
        return begun.removeValue(forKey: frame.stream)
    }

    private func fields(of block: [UInt8]) throws -> [Field] {
        var fields: [Field] = []
        var place = 0
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let count = block.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress.map { $0 + place }, $0.count - place, 1)
            }
            guard count >= 0 else { throw ScriptedPeer.Ended() }
            place += count
            if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
                let value = UnsafeBufferPointer(start: field.value, count: field.valuelen)
                fields.append(
                    Field(
                        name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
                        isNeverIndexed: UInt32(field.flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0))
            }
            if UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return fields
            }
            if place == block.count, UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue == 0 { return fields }
        }
    }

    // MARK: Writing

    /// Writes a frame unchanged.
    package func write(_ frame: Frame) throws { try peer.write(Self.bytes(of: frame)) }

    /// Writes frames in one go.
    package func write(_ frames: [Frame]) throws { try peer.write(frames.flatMap(Self.bytes)) }

    /// A frame's bytes.
    package static func bytes(of frame: Frame) -> [UInt8] {
        let count = frame.payload.count
        return [16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + [frame.type, frame.flags]
            + number(frame.stream) + frame.payload
    }

    /// Sends SETTINGS, by number.
    package func writeSettings(_ settings: [UInt16: UInt32]) throws {
        try write(Frame.settings(settings))
    }

    /// Sends a call's whole answer.
    package func answer(_ stream: UInt32, status: Int = 200, _ fields: [(String, String)] = [], body: String = "")
        throws
    {
        var head = Self.head(stream, status: status, fields)
        if body.isEmpty { head.flags |= Frame.endStream }
        var frames = [head]
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: 16_384) {
            let end = min(start + 16_384, bytes.count)
            frames.append(
                Frame(
                    type: Frame.data, flags: end == bytes.count ? Frame.endStream : 0, stream: stream,
                    payload: Array(bytes[start..<end])))
        }
        try write(frames)
    }

    /// The head of an answer; more follows.
    package static func head(_ stream: UInt32, status: Int, _ fields: [(String, String)] = []) -> Frame {
        let all = [(":status", String(status))] + fields
        return Frame(type: Frame.headers, flags: Frame.endHeaders, stream: stream, payload: all.flatMap(literal))
    }

    /// A field outside of all tables, without Huffman coding.
    package static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + text(name) + text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var (head, rest): ([UInt8], Int) = ([127], bytes.count - 127)
        while rest >= 128 {
            head.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return head + [UInt8(rest)] + bytes
    }

    /// Ends one call.
    package func reset(_ stream: UInt32, _ code: Code) throws {
        try write(Frame(type: Frame.reset, stream: stream, payload: Self.number(code.rawValue)))
    }

    /// Refuses calls after this stream.
    package func goAway(last stream: UInt32, _ code: Code = .none) throws {
        try write(Frame(type: Frame.goAway, payload: Self.number(stream) + Self.number(code.rawValue)))
    }

    /// Four bytes.
    package static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// The number in these bytes.
    static func number(in bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Waits until the other side closes.
    package func readToEnd() { peer.readToEnd() }
}
