import Glibc
public import HeraldThreads
import HeraldTime

/// An HTTP server for health, metrics and the sandbox: HTTP/1.1 on libmicrohttpd and, if it is to, HTTP/2 on nghttp2.
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
        /// Whether it speaks HTTP/2 too, on the same port: with clients that offer it over TLS (ALPN), and without TLS
        /// by prior knowledge.
        public var speaksHTTP2 = false

        /// Whether it serves this machine's programs alone.
        public var isLoopback: Bool { HTTPServer.isLoopback(host) }

        /// The defaults: loopback, a free port, one thread.
        public init() {}
    }

    /// The port that the server listens on.
    public let port: UInt16

    private let parked: ParkedConnections
    private let parkedThread: OwnThread
    private let front: Front
    private let isStopped = Guarded(false)

    /// What accepts connections.
    private enum Front {
        case daemon(HTTPDaemon)
        case loops([ServerLoop], ListeningSocket)
    }

    /// Whether a server that listens on this host serves this machine's programs alone.
    public static func isLoopback(_ host: String) -> Bool {
        host == "::1" || host == "localhost" || host.hasPrefix("127.")
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
        let requests = RequestService(
            handler: handler, parked: parked, bodyLimitBytes: configuration.bodyLimitBytes,
            bodyRule: configuration.bodyRule)
        do {
            front =
                configuration.speaksHTTP2
                ? .loops(try Self.loops(configuration, socket, requests, connections), socket)
                : .daemon(
                    try HTTPDaemon(
                        configuration, listening: socket.descriptor, requests: requests, connections: connections))
        } catch {
            parked.stop()
            parkedThread.join()
            throw failure(error)
        }
        port = socket.port
    }

    /// As many as there are to be threads; the socket is closed when one does not start.
    private static func loops(
        _ configuration: Configuration, _ socket: ListeningSocket, _ requests: RequestService,
        _ connections: OpenConnections
    ) throws(SystemError) -> [ServerLoop] {
        var loops: [ServerLoop] = []
        do throws(SystemError) {
            let tls: TLSAcceptor?
            if let identity = configuration.identity { tls = try TLSAcceptor(identity) } else { tls = nil }
            for _ in 0..<configuration.threads {
                loops.append(
                    try ServerLoop(
                        configuration, listening: socket.descriptor, tls: tls, requests: requests,
                        connections: connections))
            }
            return loops
        } catch {
            for loop in loops { loop.stop() }
            close(socket.descriptor)
            throw error
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
    ///
    /// Over HTTP/2 clients get what is answered by then, if they take it within a second, and GOAWAY.
    public func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        // In this order: the library must not be stopped while a connection is suspended.
        parked.stop()
        parkedThread.join()
        switch front {
        case .daemon(let daemon): daemon.stop()
        case .loops(let loops, let socket):
            for loop in loops { loop.stop() }
            close(socket.descriptor)
        }
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
