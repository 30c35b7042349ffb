internal import Glibc
internal import HeraldThreads

/// How long questions wait in all for what is only just taking office: a leader, a coordinator, a topic that was just made.
///
/// One for all questions of a command, so that what never takes office costs its time once, whatever is asked.
public final class SettlingPatience: Sendable {
    private struct State {
        var left: Duration
        var waited = Duration.zero
        var isOpen = true
        var isSaid = false
    }

    private let state: Guarded<State>
    private let sayingAfter: Duration
    private let say: @Sendable (KafkaError, _ left: Duration) -> Void

    /// - Parameters:
    ///   - limit: how long they wait in all.
    ///   - sayingAfter: how long they have waited when it is said.
    ///   - say: told once what is waited for, and for how long at most.
    public init(
        _ limit: Duration, sayingAfter: Duration = .seconds(2),
        _ say: @escaping @Sendable (KafkaError, _ left: Duration) -> Void = { _, _ in }
    ) {
        state = Guarded(State(left: limit))
        self.sayingAfter = sayingAfter
        self.say = say
    }

    /// Whether its questions still share it.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// No more than this is waited from now on.
    package func shorten(to limit: Duration) { state.withLock { $0.left = min($0.left, limit) } }

    /// Its questions share it no more: each one waits as long as its asker says.
    public func end() { state.withLock { $0.isOpen = false } }

    /// Asks again as long as the answer is that something is only just taking office.
    ///
    /// Blocks.
    package func outwait<Answer: ~Copyable>(
        where isPassing: (KafkaError) -> Bool = \.isSettling, _ ask: () throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let begin = ContinuousClock.now
        var hasWaited = false
        defer { if hasWaited { spend(.now - begin) } }
        while true {
            do throws(KafkaError) {
                return try ask()
            } catch {
                guard isPassing(error), mayWait(.now - begin, error) else { throw error }
                hasWaited = true
                // Nothing tells when it is known.
                usleep(100_000)
            }
        }
    }

    /// Whether there is time left after this one's wait, of which a person hears when it gets long.
    private func mayWait(_ wait: Duration, _ error: KafkaError) -> Bool {
        let (left, isNews) = state.withLock { state in
            let isNews = !state.isSaid && state.waited + wait >= sayingAfter
            let left = state.left - wait
            if isNews, left > .zero { state.isSaid = true }
            return (left, isNews)
        }
        guard left > .zero else { return false }
        if isNews { say(error, left) }
        return true
    }

    private func spend(_ wait: Duration) {
        state.withLock { state in
            state.left -= wait
            state.waited += wait
        }
    }
}

extension KafkaError {
    /// Whether it may pass by itself: a leader or a coordinator takes office, or not all know of a topic that was just made.
    package var isSettling: Bool { kind == .settling || kind == .unknownTopic }
}

extension ClientProperties {
    /// Asks again while something is only just taking office: as long as all questions of the command may, or else this long.
    package func outwaiting<Answer: ~Copyable>(
        within patience: Duration, where isPassing: (KafkaError) -> Bool = \.isSettling,
        _ ask: () throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let shared = settling.flatMap { $0.isOpen ? $0 : nil }
        return try (shared ?? SettlingPatience(patience)).outwait(where: isPassing, ask)
    }
}

extension ClientHandle {
    /// Asks again while something is only just taking office, if it is a command that asks; others decide that themselves.
    ///
    /// Of what the client itself does not know only the asker can tell whether it is missing.
    func outwaiting<Answer: ~Copyable>(_ ask: () throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
        guard let settling = callbacks.properties.settling, settling.isOpen else { return try ask() }
        return try settling.outwait(
            where: { $0.kind == .settling || $0.code == KafkaError.Code.unknownTopicOrPartition }, ask)
    }
}
