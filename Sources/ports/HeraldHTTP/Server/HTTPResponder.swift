internal import HeraldThreads

/// The answer to a request that comes from another thread, later.
///
/// One that never comes leaves the connection open until the client closes it or the server stops.
public final class HTTPResponder: Sendable {
    private let parked: ParkedConnections
    private let id: UInt64
    private let state = Guarded<HTTPResponse?>(nil)

    init(parked: ParkedConnections, id: UInt64) {
        self.parked = parked
        self.id = id
    }

    /// Answers when the time has passed; of several answers the first counts.
    ///
    /// On any thread. The client may be gone, and so may be the server: then nothing happens.
    public func respond(_ response: HTTPResponse, after wait: Duration = .zero) {
        let isFirst = state.withLock { state in
            guard state == nil else { return false }
            state = response
            return true
        }
        if isFirst { parked.wake(id, after: wait) }
    }

    var response: HTTPResponse? { state.withLock { $0 } }
}
