internal import HeraldThreads

/// When brokers last answered what a process asked for: a record, an offset, a group; the leaders of partitions do not
/// count, because any broker that is left tells that.
///
/// One for all clients of a process, as ``BrokerLogin`` is.
public final class AnswerClock: Sendable {
    private let last = Guarded(ContinuousClock.now)

    /// A clock that begins now.
    public init() {}

    /// For how long nothing has been answered.
    public var silence: Duration { last.withLock { .now - $0 } }

    /// Something was answered, or begins to be asked for.
    public func note() { last.withLock { $0 = .now } }
}
