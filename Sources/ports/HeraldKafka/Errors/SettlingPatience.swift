internal import Glibc
internal import HeraldThreads

/// The total time that queries wait for a leader, a coordinator or a new topic to become available.
///
/// All queries of a command share one, so a leader that never appears costs its time only once.
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
    ///   - limit: The total time to wait.
    ///   - sayingAfter: The time after which the wait is reported.
    ///   - say: Called once with the reason for the wait and the time left.
    public init(
        _ limit: Duration, sayingAfter: Duration = .seconds(2),
        _ say: @escaping @Sendable (KafkaError, _ left: Duration) -> Void = { _, _ in }
    ) {
        state = Guarded(State(left: limit))
        self.sayingAfter = sayingAfter
        self.say = say
    }

    package var isOpen: Bool { state.withLock { $0.isOpen } }

    package func shorten(to limit: Duration) { state.withLock { $0.left = min($0.left, limit) } }

    /// Ends the sharing: from now on each query waits as long as its caller allows.
    public func end() { state.withLock { $0.isOpen = false } }

    /// Repeats the query while its answer is that something is still becoming available.
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
                // No event announces the end of the wait.
                usleep(100_000)
            }
        }
    }

    /// Whether there is time left after this wait; a long wait is reported.
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
    /// Whether it may pass by itself: a leader or coordinator takes over, or some brokers do not know a topic yet.
    package var isSettling: Bool { kind == .settling || kind == .unknownTopic }
}

extension ClientProperties {
    /// Repeats the query while something is becoming available, within the command's shared patience or else this long.
    package func outwaiting<Answer: ~Copyable>(
        within patience: Duration, where isPassing: (KafkaError) -> Bool = \.isSettling,
        _ ask: () throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let shared = settling.flatMap { $0.isOpen ? $0 : nil }
        return try (shared ?? SettlingPatience(patience)).outwait(where: isPassing, ask)
    }
}

extension ClientHandle {
    /// Repeats the query while something becomes available, if a command shares its patience; others decide alone.
    ///
    /// When only the client does not know a topic, the caller must decide whether it is missing.
    func outwaiting<Answer: ~Copyable>(_ ask: () throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
        guard let settling = callbacks.properties.settling, settling.isOpen else { return try ask() }
        return try settling.outwait(
            where: { $0.kind == .settling || $0.code == KafkaError.Code.unknownTopicOrPartition }, ask)
    }
}
