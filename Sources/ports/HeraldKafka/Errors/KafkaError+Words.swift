extension KafkaError {
    /// How librdkafka words what it says of itself: beside it stands what only its makers look for.
    private static let libraryMarks = ["Local: ", "(after ", "Timed out waiting", "Failed while waiting"]

    private var isInLibraryWords: Bool { Self.libraryMarks.contains { message.contains($0) } }

    /// What happened, for a headline: no name of an error, and none of librdkafka's own words.
    ///
    /// What brokers answered stays as it is; ``description`` has everything, for a log or a detail.
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

    /// ``words``, with what librdkafka said in brackets where that is something else.
    public var wordsInFull: String { words == description || words == message ? words : "\(words) (\(description))" }
}
