import CMicroHTTPD
import Glibc
import HeraldThreads

/// One daemon of libmicrohttpd with its threads: HTTP/1.1, plain or over TLS.
///
/// It listens by itself, or gets its connections by ``take(_:from:)``.
final class HTTPDaemon: Sendable {
    private struct Running {
        let daemon: OpaquePointer
        let service: Unmanaged<DaemonService>
    }

    /// What the library's callbacks need with it; `nil` when stopped.
    private let running: Guarded<Running?>

    /// - Parameter listening: the socket that it listens on, which is the library's from now on, also when it does not
    ///   start; `nil` when it gets connections.
    /// - Throws: when threads, memory or descriptors run out.
    init(
        _ configuration: HTTPServer.Configuration, listening: Int32?, requests: RequestService,
        connections: OpenConnections
    ) throws(SystemError) {
        let listens = listening != nil
        let service = Unmanaged.passRetained(DaemonService(requests, connections, listens: listens))
        let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
        var settings = herald_http_daemon_settings(
            flags: flags | (listens ? 0 : MHD_USE_NO_LISTEN_SOCKET.rawValue),
            listening_socket: listening ?? -1,
            threads: listens ? UInt32(clamping: configuration.threads) : 1,
            // Whoever hands connections over counts them. The library (0.9.75) must not: a connection that it gets by
            // MHD_add_connection, and finds to be beyond its limit, makes its thread keep a mutex for good.
            connection_limit: listens ? UInt32(clamping: configuration.connectionLimit) : .max,
            idle_timeout_seconds: UInt32(clamping: configuration.idleTimeoutSeconds),
            certificate: nil,
            key: nil,
            context: service.toOpaque(),
            answer: DaemonService.answer,
            begin: DaemonService.begin,
            completed: DaemonService.completed,
            accept: listens ? DaemonService.accept : nil,
            connection: DaemonService.connection)
        let daemon = Self.withTexts(of: configuration.identity) { certificate, key in
            settings.certificate = certificate
            settings.key = key
            return herald_http_daemon_start(&settings)
        }
        guard let daemon else {
            let code = errno
            service.release()
            throw SystemError(call: "libmicrohttpd did not start", number: code)
        }
        running = Guarded(Running(daemon: daemon, service: service))
    }

    /// The library copies what it needs of the texts while it starts.
    private static func withTexts(
        of identity: LocalIdentity?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?
    ) -> OpaquePointer? {
        guard let identity else { return body(nil, nil) }
        return identity.certificate.withCString { certificate in
            identity.key.withCString { body(certificate, $0) }
        }
    }

    /// Serves a connection that was accepted elsewhere, with whatever its client has sent already; the socket is the
    /// library's from now on.
    ///
    /// - Returns: false when it is not served, and closed.
    func take(_ socket: Int32, from address: SocketAddress) -> Bool {
        running.withLock { running in
            guard let running else {
                close(socket)
                return false
            }
            return address.withPointer { MHD_add_connection(running.daemon, socket, $0, $1) } == .YES
        }
    }

    /// Closes every connection and ends the threads; nothing may be suspended any more.
    func stop() {
        let running = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let running else { return }
        MHD_stop_daemon(running.daemon)
        running.service.release()
    }
}
