import Glibc
import HeraldCommandLine
import HeraldThreads

/// Ctrl-C and SIGTERM as a request to come to an end in good order; the second one ends the process at once.
final class StopRequest: Sendable {
    private struct State {
        var isMade = false
        var isAnswering = false
    }

    private let state = Guarded(State())

    var isMade: Bool { state.withLock { $0.isMade } }

    /// Asks a question, which is answered with no by a signal: at once, because nothing has been done yet.
    func whileAnswering<Answer>(_ ask: () throws -> Answer) throws -> Answer {
        state.withLock { $0.isAnswering = true }
        defer { state.withLock { $0.isAnswering = false } }
        return try ask()
    }

    /// Listens as long as the process lives.
    ///
    /// - Parameter onSecond: what has to be done before the process ends at once, such as giving back a terminal.
    static func listen(onSecond: @escaping @Sendable () -> Void = {}) throws -> StopRequest {
        let request = StopRequest()
        try StopSignals.catchAll()
        _ = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            let isAnswering = request.state.withLock { state in
                state.isMade = true
                return state.isAnswering
            }
            if isAnswering { _exit(ExitStatus.needsConfirmation.rawValue) }
            _ = StopSignals.wait()
            onSecond()
            _exit(ExitStatus.failed.rawValue)
        }
        return request
    }
}
