import Glibc
import HeraldCommandLine
import HeraldThreads

/// Ctrl-C and SIGTERM as a request to come to an end in good order; the second one ends the process at once.
///
/// While questions are asked, the first one ends it too, a moment later: nothing has been done yet, and a question whose broker
/// is away is not answered for minutes.
final class StopRequest: Sendable {
    private enum Phase {
        /// Brokers are asked, and nothing is done yet.
        case asking
        /// A person is.
        case answering
        /// A job is under way.
        case working
    }

    private struct State {
        var isMade = false
        var phase = Phase.asking
    }

    /// So long a question may take to end by itself.
    private static let grace = Duration.seconds(1)

    private let state = Guarded(State())

    var isMade: Bool { state.withLock { $0.isMade } }

    /// Asks whether a job may begin, which is answered with no by a signal: at once, because nothing has been done yet.
    ///
    /// Behind it a job is under way, which comes to its end in its own time.
    ///
    /// - Parameters:
    ///   - count: how many it acts on.
    ///   - refusal: what is said when the answer is no.
    func confirm(
        _ question: String, count: Int = 1, isAssumed: Bool, _ console: Console, refusal: String
    ) throws -> Bool {
        QuestionWatch.end()
        state.withLock { $0.phase = .answering }
        defer { state.withLock { $0.phase = .working } }
        let isConfirmed = try Confirmation.ask(question, count: count, isAssumed: isAssumed, console: console)
        if !isConfirmed { console.complain(refusal) }
        return isConfirmed
    }

    /// Asks a person for what has to be known before anything is done, so that a signal ends the process at once.
    func answer<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        state.withLock { $0.phase = .answering }
        defer { state.withLock { $0.phase = .asking } }
        return try body()
    }

    /// Questions were answered, and the operator watches what changes for as long as they like.
    func beginWork() {
        QuestionWatch.end()
        state.withLock { $0.phase = .working }
    }

    /// Listens as long as the process lives.
    ///
    /// - Parameter onSecond: what has to be done before the process ends at once, such as giving back a terminal.
    static func listen(onSecond: @escaping @Sendable () -> Void = {}) throws -> StopRequest {
        let request = StopRequest()
        let end = try Wakeup()
        try StopSignals.catchAll()
        _ = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            let phase = request.state.withLock { state in
                state.isMade = true
                return state.phase
            }
            switch phase {
            case .answering:
                HiddenInput.end()
                _exit(ExitStatus.needsConfirmation.rawValue)
            case .asking:
                // It ends by itself unless it waits for a broker.
                _ = end.wait(for: grace)
                onSecond()
                _exit(ExitStatus.partlyDone.rawValue)
            case .working: break
            }
            _ = StopSignals.wait()
            onSecond()
            _exit(ExitStatus.failed.rawValue)
        }
        return request
    }
}
