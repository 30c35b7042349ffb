import HeraldThreads

/// The streams of one loop whose answer is due: the way from any thread to the loop's.
final class StreamMailbox: Sendable {
    /// A stream of a connection.
    struct Address: Sendable {
        var connection: UInt64
        var stream: Int32
    }

    private struct State {
        var due: [Address] = []
        var isStopping = false
    }

    private let state = Guarded(State())
    private let signal: Wakeup

    init() throws(SystemError) { signal = try Wakeup() }

    /// To be watched for reading.
    var descriptor: Int32 { signal.descriptor }

    func post(_ address: Address) {
        let isFirst = state.withLock { state in
            state.due.append(address)
            return state.due.count == 1
        }
        if isFirst { signal.signal() }
    }

    /// The loop is to end.
    func stop() {
        state.withLock { $0.isStopping = true }
        signal.signal()
    }

    /// What was posted since the last time, and whether the loop is to end; on the loop's thread.
    func take() -> (due: [Address], isStopping: Bool) {
        signal.drain()
        return state.withLock { state in
            defer { state.due = [] }
            return (state.due, state.isStopping)
        }
    }
}

/// A stream that waits for its answer.
struct ParkedStream: Suspendable {
    let mailbox: StreamMailbox
    let address: StreamMailbox.Address

    /// It has nothing to send until it is told to go on.
    func suspend() {}
    func resume() { mailbox.post(address) }
    /// Its loop reads what comes, and so the end of the connection too.
    var watchedSocket: Int32? { nil }
}
