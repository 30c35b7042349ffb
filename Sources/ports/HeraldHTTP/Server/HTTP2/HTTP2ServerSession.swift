import CNGHTTP2
import HeraldTime

/// HTTP/2 on one connection of a server: frames in, requests out; answers in, frames out.
///
/// Alone owns its `nghttp2_session`, and knows no socket. Everything happens on its loop's thread. A flood ends the
/// connection: nghttp2 bounds the resets of a client (1 000 at once, 33 a second), the entries of SETTINGS (32) and the
/// frames of a head (8); ``FrameAllowance`` counts the rest.
final class HTTP2ServerSession {
    /// What there is of an answer's body now.
    enum BodyPiece {
        case some(Int, isLast: Bool)
        /// The stream is told to go on when there is more.
        case later
    }

    /// A client may have so many requests open at once; each may have a body up to the server's limit in memory.
    static let streamsLimit: UInt32 = 100
    /// So many bytes may come before more are allowed, for all bodies together.
    private static let windowSize: Int32 = 1_024 * 1_024
    /// A frame that carries so many bytes of an answer pays for one that allows more of them.
    private static let paidBytes = 4_096

    /// nghttp2's own limit of the answers to PING and SETTINGS ends a connection without goodbye: ours comes first.
    nonisolated(unsafe) private static let options: OpaquePointer? = {
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        nghttp2_option_set_max_outbound_ack(options, 2 * FrameAllowance.framesLimit)
        return options
    }()

    private let requests: RequestService
    private let limits: ConnectionTable.Limits
    private let peer: HTTPPeer
    private let mailbox: StreamMailbox
    private let number: UInt64
    private var session: OpaquePointer?
    private var streams: [Int32: RequestStream] = [:]
    private var allowance = FrameAllowance()
    private var output = FrameOutput()
    /// Until when there has to be another request; `nil` while there is one.
    private var idleDeadline: MonotonicTime?
    /// It says goodbye, and hears nothing more.
    private var isTerminated = false

    /// A session that has greeted; `nil` without memory.
    ///
    /// - Parameter number: by which the mailbox knows the connection.
    init?(
        _ requests: RequestService, _ limits: ConnectionTable.Limits, peer: HTTPPeer, mailbox: StreamMailbox,
        number: UInt64
    ) {
        self.requests = requests
        self.limits = limits
        self.peer = peer
        self.mailbox = mailbox
        self.number = number
        nghttp2_session_server_new2(
            &session, HTTP2ServerCallbacks.shared, Unmanaged.passUnretained(self).toOpaque(), Self.options)
        if session == nil { return nil }
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.streamsLimit),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(RequestStream.headLimitBytes)),
        ]
        // They fail without memory alone, and then the first write does too.
        nghttp2_submit_settings(session, 0, settings, settings.count)
        nghttp2_session_set_local_window_size(session, 0, 0, Self.windowSize)
        beIdle()
    }

    deinit {
        for stream in streams.values { release(stream) }
        nghttp2_session_del(session)
    }

    // MARK: Bytes

    /// Takes bytes of the connection; false when there is nothing to say any more, not even goodbye.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isTerminated { return true }
        if !allowance.spend(bytes: bytes.count) { terminate(NGHTTP2_ENHANCE_YOUR_CALM) }
        let count = nghttp2_session_mem_recv(session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        return count >= 0 || isTerminated
    }

    /// Writes what is queued.
    func write(_ send: (UnsafeRawBufferPointer) -> Transport.Result) -> FrameOutput.Written {
        guard let session else { return .failed }
        var isBroken = false
        let written = output.write(of: session, serialized: { isBroken = isBroken || $0 < 0 }, send)
        return isBroken ? .failed : written
    }

    /// Whether both sides have said all that they will.
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// Whether there is an answer of which not all is out.
    var isAnswering: Bool {
        streams.values.contains { stream in
            if case .bytes = stream.answer { true } else { false }
        }
    }

    /// Ends what takes too long: requests, answers, and a connection without either.
    func sweep(now: MonotonicTime) {
        for stream in streams.values where stream.deadline.map({ $0 <= now }) ?? false {
            stream.deadline = nil
            reset(stream, NGHTTP2_CANCEL)
        }
        if let idleDeadline, idleDeadline <= now { terminate(NGHTTP2_NO_ERROR) }
    }

    /// Takes no request any more: one that is not all there may be made again elsewhere, the others are answered.
    func leave() {
        let last = nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(session, 0, last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
        for stream in streams.values where stream.reading != .done { reset(stream, NGHTTP2_REFUSED_STREAM) }
    }

    private func terminate(_ code: nghttp2_error_code) {
        if isTerminated { return }
        isTerminated = true
        nghttp2_session_terminate_session(session, code.rawValue)
    }

    private func beIdle() {
        idleDeadline = SystemClock.monotonic().advanced(by: limits.idleTimeout)
    }

    // MARK: Requests

    func beginFrame(_ header: nghttp2_frame_hd) {
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue where header.length > 0 && streams[header.stream_id]?.reading == .body: return
        // nghttp2 counts them.
        case NGHTTP2_RST_STREAM.rawValue: return
        default: if !allowance.spendFrame() { terminate(NGHTTP2_ENHANCE_YOUR_CALM) }
        }
    }

    func beginRequest(_ id: Int32) {
        let deadline = SystemClock.monotonic().advanced(by: limits.requestTimeout)
        streams[id] = RequestStream(id: id, deadline: deadline)
        idleDeadline = nil
    }

    func appendField(_ id: Int32, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        // Trailers say nothing that is asked for.
        guard let stream = streams[id], stream.reading == .head else { return }
        stream.append(name, value)
    }

    /// The head, or the trailers, are all there.
    func endHead(_ id: Int32, isLast: Bool) {
        guard let stream = streams[id], stream.reading == .head else { return }
        let transaction = stream.endHead(bodyLimitBytes: requests.bodyLimitBytes)
        if stream.isHeadTooLarge {
            return refuse(stream, .text("the head is larger than \(RequestStream.headLimitBytes) bytes\n", status: 431))
        }
        if isLast { return }
        let announced = stream.headers["content-length"].flatMap { Int($0) }
        let refusal = requests.refusal(of: transaction, announcedBytes: announced) { stream.request($0, from: peer) }
        if let refusal { return refuse(stream, refusal) }
        if stream.headers["expect"]?.lowercased() == "100-continue" {
            _ = AnswerFields.goOn.withFields {
                nghttp2_submit_headers(session, 0, id, nil, $0.baseAddress, $0.count, nil)
            }
        }
    }

    func appendBody(_ id: Int32, _ piece: UnsafeRawBufferPointer) {
        guard let stream = streams[id], stream.reading == .body, let transaction = stream.transaction else { return }
        allowance.earn(bytes: piece.count)
        transaction.append(piece)
        if transaction.discardedBytes > 0 { refuse(stream, requests.tooLarge(transaction)) }
    }

    func endRequest(_ id: Int32) {
        guard !isTerminated, let stream = streams[id], stream.reading == .body, let transaction = stream.transaction
        else { return }
        stream.reading = .done
        stream.deadline = nil
        let isDecided = requests.decide(transaction, on: place(of: stream)) { stream.request($0, from: peer) }
        if isDecided { finish(stream) }
    }

    /// nghttp2 knows the stream no more.
    func streamClosed(_ id: Int32) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        release(stream)
        if streams.isEmpty { beIdle() }
    }

    private func release(_ stream: RequestStream) {
        if let id = stream.transaction?.parkedID { requests.parked.forget(id) }
        if case .stream(let body) = stream.answer { body.close() }
    }

    private func place(of stream: RequestStream) -> ParkedStream {
        ParkedStream(mailbox: mailbox, address: .init(connection: number, stream: stream.id))
    }

    // MARK: Answers

    /// A stream that waited goes on.
    func resume(_ id: Int32) {
        guard let stream = streams[id] else { return }
        switch stream.answer {
        case .none: finish(stream)
        case .stream: nghttp2_session_resume_data(session, id)
        case .bytes: break
        }
    }

    /// Answers before all of the request is there; the rest of it is not wanted.
    private func refuse(_ stream: RequestStream, _ response: HTTPResponse) {
        stream.reading = .done
        send(response, on: stream)
    }

    private func finish(_ stream: RequestStream) {
        switch stream.transaction?.ending {
        case .respond(let response): send(response, on: stream)
        case .stream(let response, let body): begin(body, response, on: stream)
        case .respondAs(let responder):
            if let response = responder.response { send(response, on: stream) } else { hangUp(stream) }
        case .hangUp, nil: hangUp(stream)
        }
    }

    /// What closing the connection is over HTTP/1.1, which carries one request: no other stream suffers from it.
    private func hangUp(_ stream: RequestStream) { reset(stream, NGHTTP2_INTERNAL_ERROR) }

    private func reset(_ stream: RequestStream, _ code: nghttp2_error_code) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
    }

    private func send(_ response: HTTPResponse, on stream: RequestStream) {
        // An answer to HEAD has the length of what is not there (RFC 9110, 8.6); others have none at all.
        let isWithoutBody = [204, 304].contains(response.status)
        guard let fields = AnswerFields(response, length: isWithoutBody ? nil : response.body.count) else {
            return send(RequestService.unsendable, on: stream)
        }
        stream.deadline = limits.deadline(ofAnswer: response.body.count, now: SystemClock.monotonic())
        allowance.answered()
        let hasBody = !isWithoutBody && !response.body.isEmpty && stream.method != "HEAD"
        stream.answer = .bytes(hasBody ? response.body : [], sent: 0)
        submit(fields, hasBody: hasBody, on: stream)
    }

    private func begin(_ body: HTTPStream, _ response: HTTPResponse, on stream: RequestStream) {
        guard let fields = AnswerFields(response, length: nil) else {
            body.close()
            return send(RequestService.unsendable, on: stream)
        }
        stream.answer = .stream(body)
        allowance.answered()
        submit(fields, hasBody: stream.method != "HEAD", on: stream)
    }

    private func submit(_ fields: AnswerFields, hasBody: Bool, on stream: RequestStream) {
        var provider = nghttp2_data_provider(
            source: nghttp2_data_source(), read_callback: HTTP2ServerCallbacks.readBody)
        let code = fields.withFields { fields in
            withUnsafePointer(to: &provider) {
                nghttp2_submit_response(session, stream.id, fields.baseAddress, fields.count, hasBody ? $0 : nil)
            }
        }
        if code != 0 { reset(stream, NGHTTP2_INTERNAL_ERROR) }
    }

    /// Copies the next bytes of an answer's body.
    func readBody(_ id: Int32, into buffer: UnsafeMutableRawBufferPointer) -> BodyPiece {
        guard let stream = streams[id] else { return .some(0, isLast: true) }
        switch stream.answer {
        case .none: return .some(0, isLast: true)
        case .bytes(let bytes, let sent):
            let count = min(buffer.count, bytes.count - sent)
            buffer.copyBytes(from: bytes[sent..<sent + count])
            stream.answer = .bytes(bytes, sent: sent + count)
            allowance.earn(frames: count / Self.paidBytes)
            return .some(count, isLast: sent + count == bytes.count)
        case .stream(let body):
            switch body.read(into: buffer, on: place(of: stream), parked: requests.parked) {
            case .bytes(let count):
                allowance.earn(frames: count / Self.paidBytes)
                return .some(count, isLast: false)
            case .nothing: return .later
            case .end: return .some(0, isLast: true)
            }
        }
    }

    /// The answer is out: what its client still sends is not wanted (RFC 9113, 8.1).
    func answerSent(_ id: Int32) {
        guard let stream = streams[id], nghttp2_session_get_stream_remote_close(session, id) == 0 else { return }
        reset(stream, NGHTTP2_NO_ERROR)
    }
}
