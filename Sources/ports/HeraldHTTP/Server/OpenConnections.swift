import Glibc
import HeraldThreads
import HeraldTime

/// The open connections of a server, for its threads; ``sweep()`` hangs up on those that are overdue.
final class OpenConnections: Sendable {
    private let table: Guarded<ConnectionTable>
    /// Signalled when there is a first connection.
    private let signal: Wakeup

    /// How often deadlines are looked at.
    static let sweepInterval: Milliseconds = .milliseconds(250)

    init(_ limits: ConnectionTable.Limits, signal: Wakeup) {
        table = Guarded(ConnectionTable(limits))
        self.signal = signal
    }

    func accepts(_ peer: HTTPPeer) -> Bool { table.withLock { $0.accepts(peer) } }

    func open(_ socket: Int32, from peer: HTTPPeer) {
        let now = SystemClock.monotonic()
        let isFirst = table.withLock { table in
            defer { table.open(socket, from: peer, now: now) }
            return table.isEmpty
        }
        if isFirst { signal.signal() }
    }

    func close(_ socket: Int32) { table.withLock { $0.close(socket) } }

    func hasRequest(_ socket: Int32) { table.withLock { $0.hasRequest(socket) } }

    func answers(_ socket: Int32, byteCount: Int) {
        let now = SystemClock.monotonic()
        table.withLock { $0.answers(socket, byteCount: byteCount, now: now) }
    }

    func isDone(_ socket: Int32) {
        let now = SystemClock.monotonic()
        table.withLock { $0.isDone(socket, now: now) }
    }

    /// Hangs up on connections that are overdue; whether there are any connections.
    ///
    /// The library notices and closes the socket, after it has told ``close(_:)``: under the lock the number is still this
    /// connection's.
    func sweep() -> Bool {
        let now = SystemClock.monotonic()
        return table.withLock { table in
            for socket in table.takeOverdue(now: now) { shutdown(socket, Int32(SHUT_RDWR)) }
            return !table.isEmpty
        }
    }
}
