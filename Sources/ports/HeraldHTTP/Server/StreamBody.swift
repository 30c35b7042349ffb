import CMicroHTTPD

/// A stream on one connection, and the callbacks by which libmicrohttpd asks for its bytes.
final class StreamBody {
    /// So much is asked for at once.
    static let blockBytes = 16_384

    private let stream: HTTPStream
    private let parked: ParkedConnections
    private let connection: SuspendableConnection

    init(_ stream: HTTPStream, parked: ParkedConnections, connection: SuspendableConnection) {
        self.stream = stream
        self.parked = parked
        self.connection = connection
    }

    static let read: @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafeMutablePointer<CChar>?, Int) -> Int = {
        context, _, target, size in
        guard let context, let target else { return endOfStream }
        let body = Unmanaged<StreamBody>.fromOpaque(context).takeUnretainedValue()
        let buffer = UnsafeMutableRawBufferPointer(start: target, count: size)
        return switch body.stream.read(into: buffer, on: body.connection, parked: body.parked) {
        case .bytes(let count): count
        case .nothing: 0
        case .end: endOfStream
        }
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        let body = Unmanaged<StreamBody>.fromOpaque(context).takeRetainedValue()
        body.stream.close()
    }

    /// MHD_CONTENT_READER_END_OF_STREAM, a macro that Swift does not see.
    private static let endOfStream = -1
}
