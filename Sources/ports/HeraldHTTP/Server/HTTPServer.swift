import CMicroHTTPD
import Glibc
public import HeraldThreads
import HeraldTime

/// A server of HTTP/1.1 for health, metrics, the console and the sandbox, on libmicrohttpd.
///
/// It owns its threads: the handler is called on them and must not block; what takes time is answered with
/// ``HTTPAnswer/respondLater(_:after:)`` or ``HTTPAnswer/respondWhenReady(_:)``. Silent and slow clients cost a
/// connection until the idle time-out, and never hold up others, as long as the connection limit lies above their number.
/// The handler must not own the server.
public final class HTTPServer: Sendable {
    /// Handles one complete request.
    public typealias Handler = @Sendable (HTTPRequest) -> HTTPAnswer

    /// Where to listen, and the limits.
    public struct Configuration: Sendable {
        /// A name or an IPv4 or IPv6 address.
        public var host = "127.0.0.1"
        /// The port; 0 takes a free one.
        public var port: UInt16 = 0
        /// How many threads serve; each connection belongs to one of them.
        public var threads = 1
        /// How many connections may be open at a time; more wait in the kernel's queue.
        public var connectionLimit = 4_096
        /// How many of them one IPv4 address, or one /64 of IPv6, may open; more are closed at once.
        ///
        /// 0: no limit.
        public var connectionLimitOfNetwork = 0
        /// So many places are only for addresses that have few connections, such as probes.
        public var reservedConnections = 0
        /// A connection without traffic for so long is closed.
        public var idleTimeoutSeconds = 60
        /// A request, head and body, has to be complete so long after its connection was opened, or after the idle time-out;
        /// else the connection is closed, however often a byte comes.
        public var requestTimeoutSeconds = 60
        /// A larger body is answered with 413.
        public var bodyLimitBytes = 65_536
        /// Decides by the head alone about a request that has a body, before any of the body is kept; `nil`: every body is
        /// read, up to ``bodyLimitBytes``.
        public var bodyRule: (@Sendable (HTTPRequest) -> HTTPBodyDecision)?
        /// What the server shows for TLS; without it, it speaks plain HTTP.
        public var identity: LocalIdentity?

        /// Whether it serves this machine's programs alone.
        public var isLoopback: Bool { HTTPServer.isLoopback(host) }

        /// The defaults: loopback, a free port, one thread.
        public init() {}
    }

    /// The port that the server listens on.
    public let port: UInt16

    private let parked: ParkedConnections
    private let parkedThread: OwnThread
    /// libmicrohttpd, with what its callbacks need; `nil` when stopped.
    private let daemon: Guarded<Daemon?>

    private struct Daemon {
        let pointer: OpaquePointer
        let service: Unmanaged<DaemonService>
    }

    /// Whether a server that listens on this host serves this machine's programs alone.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || HTTPPeer(host)?.isLoopback ?? false
    }

    /// Starts the server; it serves when this returns.
    public init(_ configuration: Configuration = Configuration(), handler: @escaping Handler) throws(SystemError) {
        let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
        func failure(_ error: SystemError) -> SystemError {
            SystemError(
                call: "cannot listen on \(configuration.host):\(socket.port): \(error.call)", number: error.number)
        }
        let connections: OpenConnections
        do {
            let signal = try Wakeup()
            connections = OpenConnections(configuration.connectionLimits, signal: signal)
            parked = ParkedConnections(connections, signal: signal)
            parkedThread = try OwnThread(name: "http-waiting") { [parked] in parked.run() }
        } catch {
            close(socket.descriptor)
            throw failure(error)
        }
        let service = Unmanaged.passRetained(DaemonService(configuration, handler, parked, connections))
        // The socket is the library's from now on, also when it does not start.
        guard let pointer = Self.start(configuration, socket.descriptor, service) else {
            let code = errno
            service.release()
            parked.stop()
            parkedThread.join()
            throw failure(SystemError(call: "libmicrohttpd did not start", number: code))
        }
        daemon = Guarded(Daemon(pointer: pointer, service: service))
        port = socket.port
    }

    private static func start(
        _ configuration: Configuration, _ listening: Int32, _ service: Unmanaged<DaemonService>
    ) -> OpaquePointer? {
        var settings = herald_http_daemon_settings(
            flags: MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue,
            listening_socket: listening,
            threads: UInt32(clamping: configuration.threads),
            connection_limit: UInt32(clamping: configuration.connectionLimit),
            idle_timeout_seconds: UInt32(clamping: configuration.idleTimeoutSeconds),
            certificate: nil,
            key: nil,
            context: service.toOpaque(),
            answer: DaemonService.answer,
            begin: DaemonService.begin,
            completed: DaemonService.completed,
            accept: DaemonService.accept,
            connection: DaemonService.connection)
        guard let identity = configuration.identity else { return herald_http_daemon_start(&settings) }
        // The library copies what it needs of the texts while it starts.
        return identity.certificate.withCString { certificate in
            identity.key.withCString { key in
                settings.certificate = certificate
                settings.key = key
                return herald_http_daemon_start(&settings)
            }
        }
    }

    /// Starts a server whose handler always answers at once.
    public convenience init(
        _ configuration: Configuration = Configuration(), responding: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        try self.init(configuration) { .respond(responding($0)) }
    }

    deinit {
        stop()
    }

    /// Closes every connection, answered or not, and ends the threads; a second call does nothing.
    public func stop() {
        let daemon = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon
        }
        guard let daemon else { return }
        // In this order: the library must not be stopped while a connection is suspended.
        parked.stop()
        parkedThread.join()
        MHD_stop_daemon(daemon.pointer)
        daemon.service.release()
    }
}

extension HTTPServer.Configuration {
    var connectionLimits: ConnectionTable.Limits {
        ConnectionTable.Limits(
            connections: connectionLimit, ofNetwork: connectionLimitOfNetwork, reserved: reservedConnections,
            idleTimeout: .seconds(idleTimeoutSeconds),
            requestTimeout: .seconds(requestTimeoutSeconds))
    }
}
