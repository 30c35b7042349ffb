import CMicroHTTPD
import Glibc

/// What libmicrohttpd's callbacks work with, and the callbacks themselves.
///
/// The daemon holds it unretained; the server releases it after the daemon's threads have ended.
final class DaemonService {
    /// Of a body that is too large so much is read and thrown away, so that the client can read its 413.
    private static let discardLimitBytes = 1 << 20

    private let requests: RequestService
    private let connections: OpenConnections

    init(_ requests: RequestService, _ connections: OpenConnections) {
        self.requests = requests
        self.connections = connections
    }

    private static func service(_ context: UnsafeMutableRawPointer?) -> DaemonService? {
        context.map { Unmanaged<DaemonService>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A client wants to connect.
    static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        service(context)?.connections.accepts(HTTPPeer(address)) ?? false ? .YES : .NO
    }

    /// A connection was opened, or is about to be closed.
    static let connection: MHD_NotifyConnectionCallback = { context, connection, _, code in
        guard let service = service(context), let connection else { return }
        let socket = herald_http_connection_socket(connection)
        if herald_http_is_opening(code) != 0 {
            service.connections.open(socket, from: HTTPPeer(herald_http_connection_peer(connection)))
        } else {
            service.connections.close(socket)
        }
    }

    /// The request line is read: makes the transaction, which ``completed`` releases.
    static let begin:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            context, target, _ in
            let transaction = ServerTransaction(
                rawTarget: target.map { String(cString: $0) } ?? "",
                bodyLimitBytes: service(context)?.requests.bodyLimitBytes ?? 0)
            return Unmanaged.passRetained(transaction).toOpaque()
        }

    /// The request is over, answered or not.
    static let completed:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_RequestTerminationCode
        ) -> Void = { context, connection, slot, _ in
            if let connection { service(context)?.connections.isDone(herald_http_connection_socket(connection)) }
            guard let pointer = slot?.pointee else { return }
            Unmanaged<ServerTransaction>.fromOpaque(pointer).release()
            slot?.pointee = nil
        }

    /// Called with the head, with each piece of the body, at its end, and when a parked connection goes on.
    static let answer: MHD_AccessHandlerCallback = { context, connection, _, method, _, data, size, slot in
        guard let service = service(context), let connection, let method, let size, let pointer = slot?.pointee else {
            return .NO
        }
        let transaction = Unmanaged<ServerTransaction>.fromOpaque(pointer).takeUnretainedValue()
        if !transaction.hasBegun {
            transaction.hasBegun = true
            return service.begin(transaction, method: String(cString: method), on: connection)
        }
        if size.pointee > 0 {
            transaction.append(UnsafeRawBufferPointer(start: data, count: size.pointee))
            size.pointee = 0
            return transaction.discardedBytes > discardLimitBytes ? .NO : .YES
        }
        if transaction.ending == nil {
            service.connections.hasRequest(herald_http_connection_socket(connection))
            let method = String(cString: method)
            let isDecided = service.requests.decide(transaction, on: SuspendableConnection(pointer: connection)) {
                service.request(transaction, method: method, $0, on: connection)
            }
            if !isDecided { return .YES }
        }
        return service.finish(transaction, on: connection)
    }

    /// Refuses a body that may not come, or announces itself as too large, before it is sent.
    private func begin(_ transaction: ServerTransaction, method: String, on connection: OpaquePointer) -> MHD_Result {
        let length = MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
        let announced = length.flatMap { Int(String(cString: $0)) }
        let isChunked = MHD_lookup_connection_value(connection, .HEADER_KIND, "Transfer-Encoding") != nil
        guard isChunked || announced ?? 0 > 0 else { return .YES }
        let refusal = requests.refusal(of: transaction, announcedBytes: announced) {
            request(transaction, method: method, $0, on: connection)
        }
        return refusal.map { queue($0, on: connection) } ?? .YES
    }

    private func request(
        _ transaction: ServerTransaction, method: String, _ target: HTTPTarget, on connection: OpaquePointer
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, target: target, headers: headers(of: connection), body: transaction.body,
            peer: HTTPPeer(herald_http_connection_peer(connection)))
    }

    private func headers(of connection: OpaquePointer) -> HTTPHeaderFields {
        var headers = HTTPHeaderFields()
        withUnsafeMutablePointer(to: &headers) { headers in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let headers = context?.assumingMemoryBound(to: HTTPHeaderFields.self), let name else {
                        return .NO
                    }
                    headers.pointee.append(
                        name: String(cString: name), value: value.map { String(cString: $0) } ?? "")
                    return .YES
                }, headers)
        }
        return headers
    }

    private func finish(_ transaction: ServerTransaction, on connection: OpaquePointer) -> MHD_Result {
        switch transaction.ending {
        case .respond(let response): queue(response, on: connection)
        case .stream(let response, let stream): begin(stream, response, on: connection)
        case .respondAs(let responder): responder.response.map { queue($0, on: connection) } ?? .NO
        case .hangUp, nil: .NO
        }
    }

    /// Hands the answer to the library, which copies it; a header that it refuses (a line break) becomes a 500.
    private func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        var status = response.status
        var made = make(response)
        if made == nil {
            status = RequestService.unsendable.status
            made = make(RequestService.unsendable)
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        connections.answers(herald_http_connection_socket(connection), byteCount: response.body.count)
        return MHD_queue_response(connection, UInt32(clamping: status), made)
    }

    /// Begins an answer whose body the library asks for piece by piece.
    private func begin(_ stream: HTTPStream, _ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let body = StreamBody(stream, parked: requests.parked, connection: SuspendableConnection(pointer: connection))
        let context = Unmanaged.passRetained(body).toOpaque()
        let made = MHD_create_response_from_callback(
            UInt64.max, StreamBody.blockBytes, StreamBody.read, context, StreamBody.release)
        guard let made else {
            StreamBody.release(context)
            return .NO
        }
        guard let made = withHeaders(of: response, made) else { return .NO }
        defer { MHD_destroy_response(made) }
        return MHD_queue_response(connection, UInt32(clamping: response.status), made)
    }

    private func make(_ response: HTTPResponse) -> OpaquePointer? {
        let made = response.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        return made.flatMap { withHeaders(of: response, $0) }
    }

    /// The library's answer with these headers; `nil`, and the answer freed, when it refuses one.
    private func withHeaders(of response: HTTPResponse, _ made: OpaquePointer) -> OpaquePointer? {
        for field in response.headers.fields where MHD_add_response_header(made, field.name, field.value) != .YES {
            MHD_destroy_response(made)
            return nil
        }
        return made
    }
}
