/// One wait of `retry.delays`: its length, and the text that names its topic.
public struct RetryDelay: Sendable, Equatable {
    /// As the setting writes it, `5s`: the last part of the retry topic's name.
    public let text: String
    /// How long it is.
    public let duration: Duration

    /// A delay with its spelling.
    public init(text: String, duration: Duration) {
        self.text = text
        self.duration = duration
    }
}
