import HeraldThreads

/// The body of an answer that goes on for as long as its writer writes to it, such as server-sent events.
///
/// What the client has not read yet waits in memory up to a limit; a client that falls behind further is disconnected.
public final class HTTPStream: Sendable {
    private enum Phase {
        case open
        /// What is buffered still goes out.
        case finished
        /// The client is gone, or the writer may not write to it any more.
        case closed
    }

    private struct State {
        var phase = Phase.open
        var buffer: [UInt8] = []
        /// Where its connection waits for bytes.
        var waiting: (parked: ParkedConnections, id: UInt64)?
    }

    enum Piece {
        case bytes(Int)
        /// Nothing: the connection is suspended until there is.
        case nothing
        case end
    }

    private let limitBytes: Int
    private let state = Guarded(State())

    /// A stream that keeps at most this many bytes for a client that does not read.
    public init(limitBytes: Int = 1 << 20) {
        self.limitBytes = limitBytes
    }

    /// Whether a client may still read what is written.
    public var isOpen: Bool {
        state.withLock { state in
            if case .open = state.phase { return true }
            return false
        }
    }

    /// Sends bytes; false when the client is gone or too far behind, and the stream with it.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        change { state in
            guard case .open = state.phase else { return false }
            guard state.buffer.count + bytes.count <= limitBytes else {
                state.phase = .closed
                state.buffer = []
                return false
            }
            state.buffer += bytes
            return true
        }
    }

    /// Ends the answer when what was sent has gone out; a second call does nothing.
    public func finish() {
        change { state in
            if case .open = state.phase { state.phase = .finished }
        }
    }

    /// The connection is over, whichever side ended it.
    func close() {
        let waiting = state.withLock { state in
            state.phase = .closed
            state.buffer = []
            defer { state.waiting = nil }
            return state.waiting
        }
        if let waiting { waiting.parked.forget(waiting.id) }
    }

    /// Changes the state and lets a waiting connection go on.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, waiting) = state.withLock { state in
            let result = body(&state)
            defer { state.waiting = nil }
            return (result, state.waiting)
        }
        if let waiting { waiting.parked.wake(waiting.id, after: .zero) }
        return result
    }

    /// Takes bytes for a connection, or suspends it; on the connection's own thread, inside its callback.
    func read(
        into target: UnsafeMutableRawBufferPointer, on connection: SuspendableConnection, parked: ParkedConnections
    ) -> Piece {
        state.withLock { state in
            // It was resumed without a write: the client is gone, or the server stops.
            guard state.waiting == nil else { return .end }
            if !state.buffer.isEmpty {
                let count = min(target.count, state.buffer.count)
                target.copyBytes(from: state.buffer[..<count])
                state.buffer.removeFirst(count)
                return .bytes(count)
            }
            guard case .open = state.phase, let id = parked.park(connection, for: nil) else { return .end }
            state.waiting = (parked, id)
            return .nothing
        }
    }
}
