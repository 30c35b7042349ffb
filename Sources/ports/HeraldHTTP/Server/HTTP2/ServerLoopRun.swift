import CMicroHTTPD
import Glibc
import HeraldThreads
import HeraldTime

/// What the thread of a ``ServerLoop`` does.
final class ServerLoopRun {
    private enum Owner: UInt8 {
        case listening, mailbox, connection
    }

    private enum Connection {
        /// Nothing is taken from it yet, so that it can go to the daemon.
        case undecided(Int32, SocketAddress)
        case http2(HTTP2Connection)

        var socket: Int32 {
            switch self {
            case .undecided(let socket, _): socket
            case .http2(let connection): connection.socket
            }
        }
    }

    /// So much is read at once; a greeting too.
    private static let bufferBytes = 2 * Greeting.limitBytes
    /// So long a stop waits for clients to take what is answered.
    private static let drainTime: Milliseconds = .seconds(1)

    private let limits: ConnectionTable.Limits
    private let listening: Int32
    private let tls: TLSAcceptor?
    private let requests: RequestService
    private let open: OpenConnections
    private let mailbox: StreamMailbox
    private let daemon: HTTPDaemon
    private let loop: EventLoop
    private let buffer: UnsafeMutableRawBufferPointer
    private var connections: [UInt64: Connection] = [:]
    private var lastNumber: UInt64 = 0
    /// Not while the server is full, or the process is.
    private var isAccepting = true
    private var nextSweep = SystemClock.monotonic()

    init(
        _ limits: ConnectionTable.Limits, listening: Int32, tls: TLSAcceptor?, requests: RequestService,
        connections: OpenConnections, mailbox: StreamMailbox, daemon: HTTPDaemon
    ) throws(SystemError) {
        self.limits = limits
        self.listening = listening
        self.tls = tls
        self.requests = requests
        open = connections
        self.mailbox = mailbox
        self.daemon = daemon
        loop = try EventLoop()
        try loop.add(listening, token: EventToken(owner: Owner.listening.rawValue), interest: .readable)
        try loop.add(mailbox.descriptor, token: EventToken(owner: Owner.mailbox.rawValue), interest: .readableEdges)
        buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Serves until the mailbox says that it ends.
    func run() {
        var isStopping = false
        while !isStopping {
            let needsSweep = !connections.isEmpty || !isAccepting
            for index in 0..<loop.wait(timeout: needsSweep ? OpenConnections.sweepInterval : nil) {
                let token = loop[index].token
                switch Owner(rawValue: token.owner) {
                case .listening: accept()
                case .connection: proceed(token.payload)
                case .mailbox:
                    let mail = mailbox.take()
                    resume(mail.due)
                    isStopping = mail.isStopping
                case nil: break
                }
            }
            sweep()
        }
        drain()
    }

    // MARK: Connections that come

    private func accept() {
        guard !open.isFull else { return pause() }
        var address = SocketAddress()
        let socket = address.fill { herald_http_accept(listening, $0, $1) }
        guard socket >= 0 else {
            // Another loop was faster, or the client is gone; what is left is a shortage of the process or the machine.
            let isHarmless = [EAGAIN, EINTR, ECONNABORTED, EPROTO].contains(errno)
            return isHarmless ? () : pause()
        }
        guard open.accepts(address.peer) else {
            close(socket)
            return
        }
        lastNumber += 1
        do {
            // Reported when more comes, not as long as there is something: nothing is taken from it.
            try loop.add(socket, token: Self.token(lastNumber), interest: .edges)
        } catch {
            close(socket)
            return pause()
        }
        open.arrived(socket, from: address.peer)
        connections[lastNumber] = .undecided(socket, address)
    }

    /// Accepts nothing until the next sweep.
    private func pause() {
        loop.remove(listening)
        isAccepting = false
    }

    private func proceed(_ number: UInt64) {
        switch connections[number] {
        case .undecided(let socket, let address): decide(number, socket, address)
        case .http2(let connection): settle(number, connection, isOpen: connection.proceed(buffer))
        case nil: break
        }
    }

    /// Has the loop watch for what the connection waits for, or ends it.
    private func settle(_ number: UInt64, _ connection: HTTP2Connection, isOpen: Bool) {
        guard isOpen else { return end(number) }
        if connection.isBlocked == connection.isWatchedForRoom { return }
        connection.isWatchedForRoom = connection.isBlocked
        watch(number, connection.socket, for: connection.isBlocked ? .readableAndWritable : .readable)
    }

    private func watch(_ number: UInt64, _ socket: Int32, for interest: EventLoop.Interest) {
        do {
            try loop.change(socket, token: Self.token(number), interest: interest)
        } catch {
            end(number)
        }
    }

    private static func token(_ number: UInt64) -> EventToken {
        EventToken(owner: Owner.connection.rawValue, payload: number)
    }

    private func decide(_ number: UInt64, _ socket: Int32, _ address: SocketAddress) {
        let count = herald_http_peek(socket, buffer.baseAddress, Greeting.limitBytes)
        guard count > 0 else {
            if count == 0 || ![EAGAIN, EINTR].contains(errno) { end(number) }
            return
        }
        let seen = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        switch Greeting(seen, isEncrypted: tls != nil) {
        case .undecided: return
        case .http1:
            connections[number] = nil
            loop.remove(socket)
            // Before the daemon knows it.
            open.handOver(socket)
            if !daemon.take(socket, from: address) { open.dropped(from: address.peer) }
        case .http2: begin(number, socket, address.peer)
        }
    }

    private func begin(_ number: UInt64, _ socket: Int32, _ peer: HTTPPeer) {
        var yes: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let secure = tls?.accept(socket)
        let session = HTTP2ServerSession(requests, limits, peer: peer, mailbox: mailbox, number: number)
        guard let session, (secure == nil) == (tls == nil) else { return end(number) }
        let connection = HTTP2Connection(socket: socket, secure: secure, session: session, limits: limits)
        connections[number] = .http2(connection)
        // From here on the connection looks after its deadlines itself.
        open.hasRequest(socket)
        // What has come is reported again.
        watch(number, socket, for: .readable)
    }

    private func end(_ number: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        loop.remove(connection.socket)
        // Before the number may be another connection's.
        open.close(connection.socket)
        close(connection.socket)
    }

    // MARK: What is due

    private func resume(_ due: [StreamMailbox.Address]) {
        var touched: Set<UInt64> = []
        for address in due {
            guard case .http2(let connection) = connections[address.connection] else { continue }
            connection.session.resume(address.stream)
            touched.insert(address.connection)
        }
        for number in touched { flush(number) }
    }

    private func flush(_ number: UInt64) {
        guard case .http2(let connection) = connections[number] else { return }
        settle(number, connection, isOpen: connection.flush())
    }

    private func sweep() {
        let now = SystemClock.monotonic()
        guard now >= nextSweep else { return }
        nextSweep = now.advanced(by: OpenConnections.sweepInterval)
        for (number, connection) in connections {
            guard case .http2(let connection) = connection else { continue }
            settle(number, connection, isOpen: connection.sweep(now: now))
        }
        guard !isAccepting, !open.isFull else { return }
        let token = EventToken(owner: Owner.listening.rawValue)
        isAccepting = (try? loop.add(listening, token: token, interest: .readable)) != nil
    }

    // MARK: The end

    /// Says goodbye on every connection, and closes each when its client has taken what is answered.
    private func drain() {
        loop.remove(listening)
        for (number, connection) in connections {
            guard case .http2(let connection) = connection else {
                end(number)
                continue
            }
            connection.session.leave()
            flush(number)
        }
        let limit = SystemClock.monotonic().advanced(by: Self.drainTime)
        while true {
            for (number, connection) in connections {
                guard case .http2(let connection) = connection, connection.isDrained else { continue }
                connection.end()
                end(number)
            }
            let now = SystemClock.monotonic()
            if connections.isEmpty || now >= limit { break }
            let timeout = EventLoop.timeout(until: limit, now: now)
            for index in 0..<loop.wait(timeout: timeout) { proceed(loop[index].token.payload) }
        }
        for number in connections.keys { end(number) }
    }
}
