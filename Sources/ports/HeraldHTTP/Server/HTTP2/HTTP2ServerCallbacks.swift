import CNGHTTP2

/// nghttp2's callbacks of a server: they tell their ``HTTP2ServerSession``.
enum HTTP2ServerCallbacks {
    /// What every session is made with; it lives as long as the process.
    nonisolated(unsafe) static let shared: OpaquePointer? = {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, beginFrame)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, field)
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, invalidField)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        return callbacks
    }()

    private static let failure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    private static func session(_ context: UnsafeMutableRawPointer?) -> HTTP2ServerSession? {
        context.map { Unmanaged<HTTP2ServerSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func endsStream(_ header: nghttp2_frame_hd) -> Bool {
        let mayEnd = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
        return mayEnd && UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    }

    private static let beginFrame: nghttp2_on_begin_frame_callback = { _, header, context in
        guard let header, let session = session(context) else { return failure }
        session.beginFrame(header.pointee)
        return 0
    }

    private static let beginHeaders: nghttp2_on_begin_headers_callback = { _, frame, context in
        guard let frame, let session = session(context) else { return failure }
        if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST { session.beginRequest(frame.pointee.hd.stream_id) }
        return 0
    }

    private static let field: nghttp2_on_header_callback = {
        _, frame, name, nameCount, value, valueCount, _, context in
        guard let frame, let session = session(context) else { return failure }
        session.appendField(
            frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameCount),
            UnsafeRawBufferPointer(start: value, count: valueCount))
        return 0
    }

    /// Without it nghttp2 leaves such a field out, and the request would be another than what was sent.
    private static let invalidField: nghttp2_on_invalid_header_callback = { _, _, _, _, _, _, _, _ in
        NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let dataReceived: nghttp2_on_data_chunk_recv_callback = { _, _, id, bytes, count, context in
        guard let session = session(context) else { return failure }
        session.appendBody(id, UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }

    private static let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, context in
        guard let header = frame?.pointee.hd, let session = session(context) else { return failure }
        if UInt32(header.type) == NGHTTP2_HEADERS.rawValue {
            session.endHead(header.stream_id, isLast: endsStream(header))
        }
        if endsStream(header) { session.endRequest(header.stream_id) }
        return 0
    }

    private static let streamClosed: nghttp2_on_stream_close_callback = { _, id, _, context in
        guard let session = session(context) else { return failure }
        session.streamClosed(id)
        return 0
    }

    private static let frameSent: nghttp2_on_frame_send_callback = { _, frame, context in
        guard let header = frame?.pointee.hd, let session = session(context) else { return failure }
        if endsStream(header) { session.answerSent(header.stream_id) }
        return 0
    }

    static let readBody: nghttp2_data_source_read_callback = { _, id, buffer, count, flags, _, context in
        guard let buffer, let flags, let session = session(context) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        switch session.readBody(id, into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
        case .some(let read, let isLast):
            if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return read
        case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
    }
}
