import Glibc
import HeraldCommandLine
import HeraldThreads

/// Ctrl-C and SIGTERM as a request to come to an end in good order; the second one ends the process at once.
final class StopRequest: Sendable {
    private let flag = Guarded(false)

    /// Whether somebody has asked.
    var isMade: Bool { flag.withLock { $0 } }

    /// Listens as long as the process lives.
    static func listen() throws -> StopRequest {
        let request = StopRequest()
        try StopSignals.catchAll()
        _ = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            request.flag.withLock { $0 = true }
            _ = StopSignals.wait()
            _exit(ExitStatus.failed.rawValue)
        }
        return request
    }
}
