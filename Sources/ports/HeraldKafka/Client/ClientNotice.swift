internal import HeraldThreads

/// A log line or an error that a Kafka client reports on its own, not as an answer to a call.
public struct ClientNotice: Sendable {
    /// Its syslog severity: 3 error, 4 warning, 5 notice, 6 information, 7 debugging.
    public var level: Int
    /// The text of the line.
    public var text: String
    /// The error, if it is one: brokers down, refused credentials, a fatal error.
    public var error: KafkaError?
}

/// The notices of one client until they are taken: bounded, filled from any of librdkafka's threads.
final class NoticeBuffer: Sendable {
    /// The number of notices held; later ones are counted and dropped.
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

    /// Takes the notices, and the number dropped since the last call.
    func take() -> (notices: [ClientNotice], dropped: Int) {
        state.withLock { state in
            let taken = state
            state = State()
            return (taken.notices, taken.dropped)
        }
    }
}
