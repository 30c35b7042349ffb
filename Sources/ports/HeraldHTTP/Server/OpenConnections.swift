import Glibc
import HeraldThreads
import HeraldTime

/// The open connections of a server, for its threads; ``sweep()`` hangs up on those that are overdue.
final class OpenConnections: Sendable {
    private let table: Guarded<ConnectionTable>
    private let signal: Wakeup

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

    /// Notes what became of a connection, at this moment.
    func note(_ change: (inout ConnectionTable, _ now: MonotonicTime) -> Void) {
        let now = SystemClock.monotonic()
        table.withLock { change(&$0, now) }
    }

    /// Hangs up on connections that are overdue; whether there are any connections.
    ///
    /// The library notices and closes the socket, after it has told the table: under the lock the number is still this
    /// connection's.
    func sweep() -> Bool {
        let now = SystemClock.monotonic()
        return table.withLock { table in
            for socket in table.takeOverdue(now: now) { shutdown(socket, Int32(SHUT_RDWR)) }
            return !table.isEmpty
        }
    }
}
