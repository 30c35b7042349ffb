internal import HeraldHTTP
internal import HeraldText
internal import HeraldThreads

/// The server's news for all open tabs (server-sent events): the latest value of each name is kept, and sent to a new
/// tab first.
final class ConsoleNews: Sendable {
    private struct Reader {
        let stream: HTTPStream
        let name: String
        let credential: Gate.Credential
    }

    private struct State {
        var latest: [String: String] = [:]
        var readers: [Reader] = []
    }

    /// A tab that falls further behind starts again.
    private static let backlogBytes = 1 << 20
    /// The limits of concurrent tabs: in all, and per person over all sessions.
    private static let mostReaders = 96
    static let mostOfPerson = 24

    private let state = Guarded(State())

    /// Publishes a value, unless it is unchanged.
    func publish(_ name: String, _ value: JSONValue) {
        let text = value.compact
        state.withLock { state in
            guard state.latest[name] != text else { return }
            state.latest[name] = text
            let frame = Self.frame(name, text)
            state.readers.removeAll { !$0.stream.send(frame) }
        }
    }

    /// A stream with all current and future values; `nil` when there are too many.
    func subscribe(_ entrance: Gate.Entrance) -> HTTPStream? {
        state.withLock { state in
            state.readers.removeAll { !$0.stream.isOpen }
            guard state.readers.count < Self.mostReaders,
                state.readers.count(where: { $0.name == entrance.viewer.name }) < Self.mostOfPerson
            else { return nil }
            let stream = HTTPStream(limitBytes: Self.backlogBytes)
            stream.send(Array("retry: 1000\n\n".utf8))
            for (name, text) in state.latest { stream.send(Self.frame(name, text)) }
            state.readers.append(Reader(stream: stream, name: entrance.viewer.name, credential: entrance.credential))
            return stream
        }
    }

    /// Sends a sign of life, and disconnects clients that may no longer read.
    func beat(_ isWelcome: (Gate.Credential) -> Bool) {
        let readers = state.withLock { $0.readers }
        for reader in readers {
            if isWelcome(reader.credential) { reader.stream.send(Array(": \n\n".utf8)) } else { reader.stream.finish() }
        }
        state.withLock { state in state.readers.removeAll { !$0.stream.isOpen } }
    }

    /// JSON on one line contains no line feed, so it is one field of the event.
    private static func frame(_ name: String, _ text: String) -> [UInt8] {
        Array("event: \(name)\ndata: \(text)\n\n".utf8)
    }
}
