extension KafkaError {
    /// The marks of librdkafka's own wording, which holds details that only its makers need.
    private static let libraryMarks = ["Local: ", "(after ", "Timed out waiting", "Failed while waiting"]

    private var isInLibraryWords: Bool { Self.libraryMarks.contains { message.contains($0) } }

    /// The error for a headline, without error names or librdkafka's own wording.
    ///
    /// Brokers' messages are kept; ``description`` has all details for a log.
    public var words: String {
        guard code < 0 else { return description }
        guard isInLibraryWords else { return message }
        switch code {
        case Code.timedOut, Code.messageTimedOut: return "no broker answered in time"
        case Code.allBrokersDown: return "no broker can be reached"
        case Code.resolve: return "a broker's name is not found"
        case Code.ssl: return "no TLS connection to a broker can be made"
        case Code.transport:
            return message.contains("Connection refused") ? "connection refused" : "the connection to a broker broke"
        default: return message.replacing("Local: ", with: "")
        }
    }

    /// ``words``, followed by librdkafka's message in brackets when that differs.
    public var wordsInFull: String { words == description || words == message ? words : "\(words) (\(description))" }
}
