import CMicroHTTPD
import Glibc
import HeraldThreads
import HeraldTime

/// Suspended connections that wait for their answer's moment, and the one thread that wakes them.
///
/// libmicrohttpd does not look at a suspended connection, so a client that leaves would stay unnoticed: a connection
/// that waits longer than a second is watched here.
///
/// Lock order: a stream's, the mutex here, then libmicrohttpd's `cleanup_connection_mutex`; under that one
/// libmicrohttpd calls nobody back (0.9.75, as long as no connection is upgraded). The mutex is kept while it is called,
/// because nothing else keeps a connection, and after ``stop()`` the daemon, from being freed meanwhile.
final class ParkedConnections: Sendable {
    private struct Parked {
        let connection: SuspendableConnection
        /// Watched for the client's leaving, when it waits for long.
        let socket: Int32?
    }

    private struct State {
        var parked: [UInt64: Parked] = [:]
        var deadlines = DueQueue<UInt64>()
        var lastID: UInt64 = 0
        var isStopping = false
    }

    private static let unwatchedTime: Milliseconds = .seconds(1)

    private let state = Guarded(State())
    private let connections: OpenConnections
    private let signal: Wakeup

    /// - Parameters:
    ///   - connections: whose deadlines the thread of ``run()`` looks after, too.
    ///   - signal: wakes that thread.
    init(_ connections: OpenConnections, signal: Wakeup) {
        self.connections = connections
        self.signal = signal
    }

    /// Suspends the connection until the wait is over, the client is gone or the server stops; `nil` has no end.
    ///
    /// Called on the connection's own thread, inside its callback.
    ///
    /// - Returns: the number by which ``wake(_:after:)`` knows the connection; `nil` when the server is stopping: then it
    ///   is not suspended.
    func park(_ connection: SuspendableConnection, for wait: Duration?) -> UInt64? {
        let now = SystemClock.monotonic()
        let due = wait.map { Self.moment($0, after: now) }
        let waitsLong = due.map { $0.time(since: now) > Self.unwatchedTime } ?? true
        let socket = waitsLong ? connection.socket : nil
        let parked: (id: UInt64, mustWake: Bool)? = state.withLock { state in
            guard !state.isStopping else { return nil }
            state.lastID += 1
            state.parked[state.lastID] = Parked(connection: connection, socket: socket)
            let isEarliest = due.map { state.deadlines.add(.init(due: $0, purpose: state.lastID)) } ?? false
            connection.suspend()
            return (state.lastID, isEarliest || socket != nil)
        }
        if parked?.mustWake == true { signal.signal() }
        return parked?.id
    }

    /// Lets a connection go on when the time has passed, if it still waits.
    ///
    /// On any thread.
    func wake(_ id: UInt64, after wait: Duration) {
        let now = SystemClock.monotonic()
        let mustSignal = state.withLock { state in
            guard wait > .zero else {
                resume(id, in: &state)
                return false
            }
            return state.deadlines.add(.init(due: Self.moment(wait, after: now), purpose: id))
        }
        if mustSignal { signal.signal() }
    }

    /// The connection is gone; on its own thread.
    func forget(_ id: UInt64) { state.withLock { _ = $0.parked.removeValue(forKey: id) } }

    private static func moment(_ wait: Duration, after now: MonotonicTime) -> MonotonicTime {
        now.advanced(by: Milliseconds(wait))
    }

    /// Lets every connection go on and refuses new ones; the thread that runs ``run()`` ends.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            for parked in state.parked.values { parked.connection.resume() }
            state.parked = [:]
        }
        signal.signal()
    }

    func run() {
        var descriptors: [pollfd] = []
        var ids: [UInt64] = []
        while true {
            let hasConnections = connections.sweep()
            descriptors.removeAll(keepingCapacity: true)
            ids.removeAll(keepingCapacity: true)
            descriptors.append(pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0))
            let now = SystemClock.monotonic()
            let timeout: Int32? = state.withLock { state in
                guard !state.isStopping else { return nil }
                while let entry = state.deadlines.takeDue(at: now) { resume(entry.purpose, in: &state) }
                for (id, parked) in state.parked {
                    guard let socket = parked.socket else { continue }
                    descriptors.append(pollfd(fd: socket, events: Int16(herald_http_poll_peer_closed), revents: 0))
                    ids.append(id)
                }
                let pause = hasConnections ? Int32(clamping: OpenConnections.sweepInterval) : -1
                guard let next = state.deadlines.earliest else { return pause }
                // Rounded up, or the loop would turn idly within the last millisecond.
                let wait = Int32(clamping: next.time(since: now) + .milliseconds(1))
                return hasConnections ? min(wait, pause) : wait
            }
            guard let timeout else { return }
            guard poll(&descriptors, nfds_t(descriptors.count), timeout) > 0 else { continue }
            if descriptors[0].revents != 0 { signal.drain() }
            state.withLock { state in
                for (id, descriptor) in zip(ids, descriptors.dropFirst()) where descriptor.revents != 0 {
                    resume(id, in: &state)
                }
            }
        }
    }

    private func resume(_ id: UInt64, in state: inout State) {
        guard let parked = state.parked.removeValue(forKey: id) else { return }
        parked.connection.resume()
    }
}

/// A connection of libmicrohttpd, which may be suspended on its own thread and resumed on any.
struct SuspendableConnection: @unchecked Sendable {
    let pointer: OpaquePointer

    func suspend() { MHD_suspend_connection(pointer) }
    func resume() { MHD_resume_connection(pointer) }
    var socket: Int32 { herald_http_connection_socket(pointer) }
}
