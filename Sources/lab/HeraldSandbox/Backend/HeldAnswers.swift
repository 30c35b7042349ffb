import HeraldHTTP
import HeraldThreads

/// Answers that a rule holds until they are released, so that a test decides when a call ends.
final class HeldAnswers: Sendable, Equatable {
    private struct State {
        var answers: [(responder: HTTPResponder, response: HTTPResponse)] = []
        /// Whether the rule is gone: a call judged by it earlier is then answered at once.
        var isOver = false
    }

    private let state = Guarded(State())

    static func == (left: HeldAnswers, right: HeldAnswers) -> Bool { left === right }

    var count: Int { state.withLock { $0.answers.count } }

    /// Holds an answer; no thread of the server waits for it.
    func hold(_ response: HTTPResponse, for responder: HTTPResponder) {
        let isOver = state.withLock { state in
            if !state.isOver { state.answers.append((responder, response)) }
            return state.isOver
        }
        if isOver { responder.respond(response) }
    }

    func release(_ count: Int) {
        let released = state.withLock { state in
            let first = Array(state.answers.prefix(count))
            state.answers.removeFirst(first.count)
            return first
        }
        for (responder, response) in released { responder.respond(response) }
    }

    func end() {
        state.withLock { $0.isOver = true }
        release(.max)
    }
}
