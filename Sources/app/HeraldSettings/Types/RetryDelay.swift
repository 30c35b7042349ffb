/// One wait of `retry.delays`: its length, and the text that names its topic.
package struct RetryDelay: Sendable, Equatable {
    /// As the setting writes it, `5s`: the last part of the retry topic's name.
    package let text: String
    package let duration: Duration
}
