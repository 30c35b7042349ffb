internal import CNGHTTP2
internal import Glibc

/// nghttp2's callbacks: they fill the ``HTTP2Streams`` of their session.
enum HTTP2Callbacks {
    private typealias Pointer = UnsafeMutablePointer<HTTP2Streams>

    /// The callbacks of every session; they live as long as the process.
    nonisolated(unsafe) static let shared: OpaquePointer? = {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, beginFrame)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, field)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, invalidFrame)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, beforeSend)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frameNotSent)
        return callbacks
    }()

    private static let failure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    private static func state(_ context: UnsafeMutableRawPointer?) -> Pointer? {
        context?.assumingMemoryBound(to: HTTP2Streams.self)
    }

    /// The place of nghttp2's stream in the table; `nil` for one without a call.
    private static func index(_ session: OpaquePointer?, _ id: Int32, _ state: Pointer) -> Int? {
        // A stream's callbacks follow one another, and nghttp2 has to search for each.
        if state.pointee.isLatest(id) { return state.pointee.latest }
        let index = Int(bitPattern: nghttp2_session_get_stream_user_data(session, id)) - 1
        guard index >= 0, state.pointee.streams[index].id == id else { return nil }
        state.pointee.latest = index
        return index
    }

    private static func reset(_ session: OpaquePointer?, _ id: Int32, _ code: nghttp2_error_code) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
    }

    // MARK: What comes

    private static let beginFrame: nghttp2_on_begin_frame_callback = { _, header, context in
        guard let header, let state = state(context) else { return failure }
        return state.pointee.beginFrame(header.pointee) ? 0 : failure
    }

    private static let field: nghttp2_on_header_callback = {
        session, frame, name, nameCount, value, valueCount, _, context in
        guard let frame, let state = state(context) else { return failure }
        guard let index = index(session, frame.pointee.hd.stream_id, state) else { return 0 }
        let isTaken = state.pointee.appendField(
            index, UnsafeRawBufferPointer(start: name, count: nameCount),
            UnsafeRawBufferPointer(start: value, count: valueCount))
        return isTaken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let dataReceived: nghttp2_on_data_chunk_recv_callback = { session, _, id, bytes, count, context in
        guard let state = state(context) else { return failure }
        guard let index = index(session, id, state) else { return 0 }
        if !state.pointee.appendBody(index, UnsafeRawBufferPointer(start: bytes, count: count)) {
            reset(session, id, NGHTTP2_CANCEL)
        }
        return 0
    }

    private static let frameReceived: nghttp2_on_frame_recv_callback = { session, frame, context in
        guard let frame, let state = state(context) else { return failure }
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_SETTINGS.rawValue:
            if UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 { break }
            let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            state.pointee.offers(places: Int(limit))
        case NGHTTP2_GOAWAY.rawValue: state.pointee.goesAway(code: frame.pointee.goaway.error_code)
        case NGHTTP2_RST_STREAM.rawValue:
            if let index = index(session, header.stream_id, state) { state.pointee.wasReset(index) }
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard let index = index(session, header.stream_id, state) else { break }
            if UInt32(header.type) == NGHTTP2_HEADERS.rawValue, !state.pointee.endFields(index) {
                reset(session, header.stream_id, NGHTTP2_PROTOCOL_ERROR)
                break
            }
            guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 else { break }
            // The rest of an answered call is useless.
            if !state.pointee.ended(index) { reset(session, header.stream_id, NGHTTP2_CANCEL) }
        default: break
        }
        return 0
    }

    private static let invalidFrame: nghttp2_on_invalid_frame_recv_callback = { _, frame, code, context in
        guard let frame, let state = state(context) else { return failure }
        // On a call's stream the error ends that stream alone.
        if frame.pointee.hd.stream_id == 0 { state.pointee.note(String(cString: nghttp2_strerror(code))) }
        return 0
    }

    private static let streamClosed: nghttp2_on_stream_close_callback = { session, id, code, context in
        guard let state = state(context) else { return failure }
        if let index = index(session, id, state) { state.pointee.closed(index, code: code) }
        return 0
    }

    // MARK: What is sent

    private static let beforeSend: nghttp2_before_frame_send_callback = { session, frame, context in
        guard let header = frame?.pointee.hd, let state = state(context) else { return failure }
        if UInt32(header.type) == NGHTTP2_HEADERS.rawValue, let index = index(session, header.stream_id, state) {
            state.pointee.begins(index)
        }
        return 0
    }

    private static let frameSent: nghttp2_on_frame_send_callback = { session, frame, context in
        guard let frame, let state = state(context) else { return failure }
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_GOAWAY.rawValue:
            // nghttp2 says goodbye by itself when the other side has broken the rules.
            let name = String(cString: nghttp2_http2_strerror(frame.pointee.goaway.error_code))
            state.pointee.note("the other side broke the rules of HTTP/2: \(name)")
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
                state.pointee.endedStream = index(session, header.stream_id, state)
            }
        default: break
        }
        return 0
    }

    private static let frameNotSent: nghttp2_on_frame_not_send_callback = { _, frame, _, context in
        guard let header = frame?.pointee.hd, let state = state(context) else { return failure }
        if UInt32(header.type) == NGHTTP2_HEADERS.rawValue, let index = state.pointee.find(id: header.stream_id) {
            state.pointee.closed(index, code: NGHTTP2_REFUSED_STREAM.rawValue)
        }
        return 0
    }

    static let readBody: nghttp2_data_source_read_callback = { session, id, buffer, count, flags, _, context in
        guard let buffer, let flags, let state = state(context), let index = index(session, id, state) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let room = UnsafeMutableRawBufferPointer(start: buffer, count: count)
        let (read, isLast) = state.pointee.readBody(index, into: room)
        if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return read
    }
}
