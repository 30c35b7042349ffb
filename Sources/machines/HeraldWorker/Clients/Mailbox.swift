import HeraldBackend
import HeraldThreads

/// The one way into a lane from outside of its thread.
final class Mailbox: Sendable {
    /// A letter in it.
    enum Letter: Sendable {
        case message(LaneMessage)
        /// News of the process's credentials.
        case access(AccessNews)
    }

    private let letters = Guarded<[Letter]>([])
    /// Wakes the lane's loop.
    let wakeup: Wakeup

    init() throws(SystemError) {
        wakeup = try Wakeup()
    }

    /// Leaves a message, from any thread.
    func post(_ message: LaneMessage) { post(.message(message)) }

    /// Leaves the news of the credentials, from any thread.
    func post(_ news: AccessNews) { post(.access(news)) }

    private func post(_ letter: Letter) {
        letters.withLock { $0.append(letter) }
        wakeup.signal()
    }

    /// How many letters lie there; from any thread.
    var count: Int { letters.withLock { $0.count } }

    /// Takes all letters, on the lane's thread.
    func drain() -> [Letter] {
        wakeup.drain()
        return letters.withLock { letters in
            defer { letters.removeAll() }
            return letters
        }
    }
}
