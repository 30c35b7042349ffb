internal import HeraldThreads

/// A log line or an error that a Kafka client reports on its own, not as an answer to a call.
public struct ClientNotice: Sendable {
    /// Its severity as syslog counts: 3 error, 4 warning, 5 notice, 6 information, 7 debugging.
    public var level: Int
    /// The line for people.
    public var text: String
    /// The error, when it is one: brokers down, refused credentials, a fatal error.
    public var error: KafkaError?
}

/// The notices of one client until they are taken: bounded, filled from any of librdkafka's threads.
final class NoticeBuffer: Sendable {
    /// Past this many the newest are counted and dropped.
    private static let capacity = 256

    private struct State {
        var notices: [ClientNotice] = []
        var dropped = 0
    }

    private let state = Guarded(State())

    func add(_ notice: ClientNotice) {
        state.withLock { state in
            if state.notices.count < Self.capacity {
                state.notices.append(notice)
            } else {
                state.dropped += 1
            }
        }
    }

    /// Hands over what has come, and how much was dropped since the last time.
    func take() -> (notices: [ClientNotice], dropped: Int) {
        state.withLock { state in
            let taken = state
            state = State()
            return (taken.notices, taken.dropped)
        }
    }
}
