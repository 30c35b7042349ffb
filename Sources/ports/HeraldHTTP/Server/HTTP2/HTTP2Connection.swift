import CMicroHTTPD
import Glibc
import HeraldTime

/// One accepted connection that speaks HTTP/2: its socket, TLS if it has that, and its session; on its loop's thread.
final class HTTP2Connection {
    private enum Phase {
        case handshake
        case open
        /// Everything is said: what the client still sends is thrown away until it closes, because closing with bytes
        /// unread may take back from it what it has not read yet.
        case lingering
    }

    /// So often a connection reads before it is another's turn; the loop reports what is left again.
    private static let readsOfTurn = 4
    /// So long a client may take to close.
    private static let lingerTime: Milliseconds = .seconds(1)

    let socket: Int32
    let session: HTTP2ServerSession
    private let secure: SecureSocket?
    private let limits: ConnectionTable.Limits
    private var phase: Phase
    /// When the connection ends, whatever it waits for: the handshake, room for its bytes, or the client's close.
    private var deadline: MonotonicTime?
    /// Whether its loop watches for room for bytes, too.
    var isWatchedForRoom = false

    init(socket: Int32, secure: SecureSocket?, session: HTTP2ServerSession, limits: ConnectionTable.Limits) {
        self.socket = socket
        self.session = session
        self.secure = secure
        self.limits = limits
        phase = secure == nil ? .open : .handshake
        if secure != nil { expect(within: limits.requestTimeout) }
    }

    /// Whether there are bytes that the socket does not take yet.
    private(set) var isBlocked = false

    /// Whether its client has got all that is answered.
    var isDrained: Bool { !isBlocked && !session.isAnswering }

    /// Reads and writes what there is; false when the connection is over.
    ///
    /// - Parameter buffer: holds more than a record of TLS, so that OpenSSL keeps nothing back that the loop cannot see.
    func proceed(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        if case .handshake = phase {
            switch secure?.shakeHands() {
            case nil: return true
            case false?: return false
            case true?: phase = .open
            }
        }
        for _ in 0..<Self.readsOfTurn {
            switch receive(into: buffer) {
            case .bytes(let count):
                if case .lingering = phase { continue }
                guard session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return false }
            case .wouldBlock: return flush()
            case .end, .failed: return false
            }
        }
        return flush()
    }

    /// Writes what the session has to say; false when the connection is over.
    func flush() -> Bool {
        guard case .open = phase else { return true }
        var isMoving = false
        let written = session.write { bytes in
            let result = send(bytes)
            if case .bytes = result { isMoving = true }
            return result
        }
        switch written {
        case .failed: return false
        case .some:
            if !isBlocked || isMoving { expect(within: limits.requestTimeout) }
            isBlocked = true
        case .all:
            isBlocked = false
            deadline = nil
            if session.isOver { linger() }
        }
        return true
    }

    private func linger() {
        end()
        phase = .lingering
        expect(within: Self.lingerTime)
    }

    /// Says goodbye below HTTP.
    func end() {
        secure?.end()
        shutdown(socket, Int32(SHUT_WR))
    }

    private func expect(within span: Milliseconds) {
        deadline = SystemClock.monotonic().advanced(by: span)
    }

    /// Ends what takes too long; false when that is the connection.
    func sweep(now: MonotonicTime) -> Bool {
        if let deadline, deadline <= now { return false }
        if case .open = phase { session.sweep(now: now) }
        return flush()
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transport.Result {
        if let secure { return secure.receive(into: buffer) }
        let count = recv(socket, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count == 0 ? .end : Self.failure()
    }

    private func send(_ bytes: UnsafeRawBufferPointer) -> Transport.Result {
        if let secure { return secure.send(bytes) }
        let count = herald_http_send(socket, bytes.baseAddress, bytes.count)
        return count >= 0 ? .bytes(count) : Self.failure()
    }

    private static func failure() -> Transport.Result { errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed }
}
