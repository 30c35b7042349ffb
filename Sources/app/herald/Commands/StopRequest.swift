import Glibc
import HeraldCommandLine
import HeraldThreads

/// Ctrl-C and SIGTERM as a request for an orderly end; the second one ends the process at once.
///
/// While questions are asked, the first one ends it too, after a moment: nothing has been done yet, and a question to
/// an absent broker goes unanswered for minutes.
final class StopRequest: Sendable {
    private enum Phase {
        /// Brokers are asked, and nothing is done yet.
        case asking
        /// A person is asked.
        case answering
        /// A job is running.
        case working
    }

    private struct State {
        var isMade = false
        var phase = Phase.asking
    }

    /// The time for a question to end by itself.
    private static let grace = Duration.seconds(1)

    private let state = Guarded(State())

    var isMade: Bool { state.withLock { $0.isMade } }

    /// Asks whether a job may begin; a signal answers no at once, because nothing has been done yet.
    ///
    /// Afterwards a job is running, which ends in its own time.
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

    /// Asks a person before anything is done; a signal then ends the process at once.
    func answer<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        state.withLock { $0.phase = .answering }
        defer { state.withLock { $0.phase = .asking } }
        return try body()
    }

    /// The questions are answered, and the operator watches for as long as they like.
    func beginWork() {
        QuestionWatch.end()
        state.withLock { $0.phase = .working }
    }

    /// Listens until the process ends.
    ///
    /// - Parameter onSecond: work to do before the process ends at once, such as restoring the terminal.
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
