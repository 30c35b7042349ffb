internal import HeraldThreads

/// The last time that brokers answered a process's request for a record, an offset or a group; partition leaders do not
/// count, because any surviving broker reports them.
///
/// All clients of a process share one, like ``BrokerLogin``.
public final class AnswerClock: Sendable {
    private let last = Guarded(ContinuousClock.now)

    /// A clock that begins now.
    public init() {}

    /// The time since the last answer.
    public var silence: Duration { last.withLock { .now - $0 } }

    /// Notes an answer, or that requests are about to begin.
    public func note() { last.withLock { $0 = .now } }
}
