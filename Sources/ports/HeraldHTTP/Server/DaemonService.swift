import CMicroHTTPD
import Glibc

/// Serves requests: libmicrohttpd's callbacks, and what they work with.
///
/// The daemon holds it unretained; the server releases it after the daemon's threads have ended.
final class DaemonService {
    /// The part of a body that is too large which is read and thrown away, so that the client can read its 413.
    private static let discardLimitBytes = 1 << 20

    private let handler: HTTPServer.Handler
    private let parked: ParkedConnections
    private let connections: OpenConnections
    private let bodyLimitBytes: Int
    private let bodyRule: (@Sendable (HTTPRequest) -> HTTPBodyDecision)?

    init(
        _ configuration: HTTPServer.Configuration, _ handler: @escaping HTTPServer.Handler,
        _ parked: ParkedConnections, _ connections: OpenConnections
    ) {
        self.handler = handler
        self.parked = parked
        self.connections = connections
        bodyLimitBytes = configuration.bodyLimitBytes
        bodyRule = configuration.bodyRule
    }

    private static func service(_ context: UnsafeMutableRawPointer?) -> DaemonService? {
        context.map { Unmanaged<DaemonService>.fromOpaque($0).takeUnretainedValue() }
    }

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
            service.connections.note { table, _ in table.close(socket) }
        }
    }

    /// The request line is read: makes the transaction, which ``completed`` releases.
    static let begin:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            context, target, _ in
            let transaction = ServerTransaction(
                rawTarget: target.map { String(cString: $0) } ?? "",
                bodyLimitBytes: service(context)?.bodyLimitBytes ?? 0)
            return Unmanaged.passRetained(transaction).toOpaque()
        }

    static let completed:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_RequestTerminationCode
        ) -> Void = { context, connection, slot, _ in
            if let connection {
                let socket = herald_http_connection_socket(connection)
                service(context)?.connections.note { table, now in table.isDone(socket, now: now) }
            }
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
            let socket = herald_http_connection_socket(connection)
            service.connections.note { table, _ in table.hasRequest(socket) }
            if !service.decide(transaction, method: String(cString: method), on: connection) { return .YES }
        }
        return service.finish(transaction, on: connection)
    }

    /// Refuses a body that may not come, or announces itself as too large, before it is sent.
    private func begin(_ transaction: ServerTransaction, method: String, on connection: OpaquePointer) -> MHD_Result {
        let length = MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
        let announced = length.flatMap { Int(String(cString: $0)) }
        let isChunked = MHD_lookup_connection_value(connection, .HEADER_KIND, "Transfer-Encoding") != nil
        guard isChunked || announced ?? 0 > 0 else { return .YES }
        if let bodyRule {
            // Without a readable target the handler is not asked either.
            guard let request = request(transaction, method: method, on: connection) else {
                return queue(Self.badTarget, on: connection)
            }
            switch bodyRule(request) {
            case .read(let limitBytes): transaction.bodyLimitBytes = min(limitBytes, bodyLimitBytes)
            case .refuse(let response): return queue(response, on: connection)
            }
        }
        return announced ?? 0 > transaction.bodyLimitBytes ? queue(transaction.tooLarge, on: connection) : .YES
    }

    /// The request; `nil` without a readable target.
    private func request(
        _ transaction: ServerTransaction, method: String, on connection: OpaquePointer
    ) -> HTTPRequest? {
        HTTPTarget(parsing: transaction.rawTarget).map { target in
            HTTPRequest(
                method: method, target: target, headers: headers(of: connection), body: transaction.body,
                peer: HTTPPeer(herald_http_connection_peer(connection)))
        }
    }

    /// Lets the handler decide about a complete request; false when it now waits.
    private func decide(_ transaction: ServerTransaction, method: String, on connection: OpaquePointer) -> Bool {
        func waits(_ ending: ServerTransaction.Ending, for wait: Duration?) -> Bool {
            transaction.ending = ending
            if let wait, wait <= .zero { return false }
            transaction.parkedID = parked.park(SuspendableConnection(pointer: connection), for: wait)
            return transaction.parkedID != nil
        }
        switch answer(to: transaction, method: method, on: connection) {
        case .respond(let response): return !waits(.respond(response), for: .zero)
        case .respondLater(let response, let wait): return !waits(.respond(response), for: wait)
        case .respondWhenReady(let begin):
            // Until there is a responder, only the server's stop can let the request go on.
            guard waits(.hangUp, for: nil), let id = transaction.parkedID else { return true }
            let responder = HTTPResponder(parked: parked, id: id)
            transaction.ending = .respondAs(responder)
            begin(responder)
            return false
        case .stream(let response, let stream): return !waits(.stream(response, stream), for: .zero)
        case .hang: return !waits(.hangUp, for: nil)
        case .hangUp(let wait): return !waits(.hangUp, for: wait)
        }
    }

    private func answer(
        to transaction: ServerTransaction, method: String, on connection: OpaquePointer
    ) -> HTTPAnswer {
        guard transaction.discardedBytes == 0 else { return .respond(transaction.tooLarge) }
        return request(transaction, method: method, on: connection).map(handler) ?? .respond(Self.badTarget)
    }

    private static let badTarget = HTTPResponse.text("the address is not properly percent-encoded UTF-8\n", status: 400)
    /// What an answer becomes whose header fields cannot be sent, such as one with a line break.
    private static let unsendable = HTTPResponse.text("the answer has a header that cannot be sent\n", status: 500)

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
            status = Self.unsendable.status
            made = make(Self.unsendable)
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        let socket = herald_http_connection_socket(connection)
        connections.note { table, now in table.answers(socket, byteCount: response.byteCount, now: now) }
        return MHD_queue_response(connection, UInt32(clamping: status), made)
    }

    /// Begins an answer whose body the library asks for piece by piece.
    private func begin(_ stream: HTTPStream, _ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let body = StreamBody(stream, parked: parked, connection: SuspendableConnection(pointer: connection))
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
        if let file = response.file { return make(response, file) }
        let made = response.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        return made.flatMap { withHeaders(of: response, $0) }
    }

    /// The library closes its descriptor of the file when the answer has gone out.
    private func make(_ response: HTTPResponse, _ file: HTTPFile) -> OpaquePointer? {
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        guard let made = MHD_create_response_from_fd64(UInt64(file.byteCount), descriptor) else {
            close(descriptor)
            return nil
        }
        return withHeaders(of: response, made)
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
