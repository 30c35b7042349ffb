internal import CNGHTTP2
internal import Glibc

/// HTTP/2 on one connection: requests in, frames out; frames in, answers out.
///
/// It alone owns its `nghttp2_session`, and knows no socket. Everything happens on the loop's thread.
final class HTTP2Session {
    /// The number of bytes that may arrive before we have to allow more, for all calls together.
    private static let windowSize: Int32 = 1_024 * 1_024

    /// Whether frames may lie here that have to be written.
    var isDirty = false
    /// The state, at a fixed address for the callbacks, so that one costs no reference count.
    private let state: UnsafeMutablePointer<HTTP2Streams>
    private let session: OpaquePointer
    private var request: HTTP2Request
    private var output = FrameOutput()

    /// A session before its first frame; `nil` without memory.
    init?(isEncrypted: Bool, keepsLocation: Bool) {
        state = .allocate(capacity: 1)
        state.initialize(to: HTTP2Streams(keepsLocation: keepsLocation))
        request = HTTP2Request(isEncrypted: isEncrypted)
        var made: OpaquePointer?
        var option: OpaquePointer?
        // Its check of messages drops an answer for faults after its status: a length that 204 may not have, or one
        // that is not the body's. HTTP2Streams checks the status itself.
        if nghttp2_option_new(&option) == 0 {
            nghttp2_option_set_no_http_messaging(option, 1)
            nghttp2_session_client_new2(&made, HTTP2Callbacks.shared, state, option)
            nghttp2_option_del(option)
        }
        guard let made else {
            state.deinitialize(count: 1)
            state.deallocate()
            return nil
        }
        session = made
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(AnswerReader.headerLimit)),
        ]
        // They only fail without memory, and then the first write does too.
        nghttp2_submit_settings(session, 0, settings, settings.count)
        nghttp2_session_set_local_window_size(session, 0, 0, Self.windowSize)
    }

    deinit {
        nghttp2_session_del(session)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: News of the other side

    /// Whether ``places`` or ``isGoingAway`` has news; asking forgets it.
    func takeNews() -> Bool {
        defer { state.pointee.hasNews = false }
        return state.pointee.hasNews
    }

    /// The number of calls that it takes at once; `nil` until it has greeted.
    var places: Int? { state.pointee.places }
    var isGoingAway: Bool { state.pointee.isGoingAway }
    var wantsHTTP1: Bool { state.pointee.wantsHTTP1 }
    /// Whether the connection is unusable: it broke the rules, or both sides have said goodbye.
    var isOver: Bool {
        if state.pointee.fault != nil { return true }
        return nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    var failure: Failure? {
        state.pointee.fault.map { fault in
            let text = state.pointee.places == nil ? "the other side does not speak HTTP/2: \(fault)" : fault
            return Failure(kind: .brokenHTTP, detail: text)
        }
    }

    // MARK: Calls

    /// Queues a call's request, written for HTTP/1.1; false when this connection can begin no more.
    func submit(call: Int32, _ bytes: UnsafeRawBufferPointer, keepsBody: Bool) -> Bool {
        guard let bodyStart = request.read(bytes) else { return false }
        let body = UnsafeRawBufferPointer(rebasing: bytes[bodyStart...])
        let index = state.pointee.add(call, keepsBody: keepsBody, body: body)
        let mark = UnsafeMutableRawPointer(bitPattern: index + 1)
        var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: HTTP2Callbacks.readBody)
        let id = request.fields.withUnsafeBufferPointer { fields in
            withUnsafePointer(to: &provider) {
                nghttp2_submit_request(
                    session, nil, fields.baseAddress, fields.count, body.isEmpty ? nil : $0, mark)
            }
        }
        guard id > 0 else {
            state.pointee.forget(index)
            return false
        }
        state.pointee.name(index, id)
        return true
    }

    func abandon(call: Int32) {
        guard let index = state.pointee.find(call: call) else { return }
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), state.pointee.streams[index].id, NGHTTP2_CANCEL.rawValue)
        state.pointee.abandon(index)
    }

    func ask() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    var hasOutcomes: Bool { !state.pointee.outcomes.isEmpty }

    /// Calls `body` with each call with a new outcome, and whether the whole of it is written.
    func takeOutcomes(_ body: (borrowing HTTP2Streams.Stream, HTTP2Streams.Outcome.Kind, Bool) -> Void) {
        if !hasOutcomes { return }
        let written = writtenCount
        state.pointee.takeOutcomes { stream, kind in body(stream, kind, stream.isWhollyWritten(written)) }
    }

    /// The number of bytes that the socket has taken.
    private var writtenCount: Int { state.pointee.serializedCount - output.waitingCount }

    /// The written part of each call without an outcome: those that began last come first.
    func forEachOpen(
        _ body: (_ stream: borrowing HTTP2Streams.Stream, _ isUntouched: Bool, _ isWhollyWritten: Bool) -> Void
    ) {
        let written = writtenCount
        for stream in state.pointee.streams.filter({ !$0.isReported }).sorted(by: { $0.id > $1.id }) {
            body(stream, stream.isUntouched(written), stream.isWhollyWritten(written))
        }
    }

    // MARK: Bytes

    /// Takes bytes of the connection; false at its end.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard state.pointee.received(bytes.count) else { return false }
        let count = nghttp2_session_mem_recv(session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        if count < 0 { state.pointee.note(String(cString: nghttp2_strerror(Int32(count)))) }
        return count >= 0 && !isOver
    }

    func write(_ send: (UnsafeRawBufferPointer) -> Transport.Result) -> FrameOutput.Written {
        let state = state
        let written = output.write(
            of: session,
            serialized: { count in
                if count < 0 { state.pointee.note(String(cString: nghttp2_strerror(Int32(count)))) }
                if count > 0 { state.pointee.serialized(count) }
            }, send)
        return written == .all && state.pointee.fault != nil ? .failed : written
    }

    /// Sends the other side's fault to it, if the socket takes that at once (RFC 9113, section 5.4.1).
    ///
    /// While other bytes wait, nothing is sent: a call that the other side has not seen stays unseen.
    func sayGoodbye(_ send: (UnsafeRawBufferPointer) -> Transport.Result) {
        if output.waitingCount == 0 { _ = write(send) }
    }
}
