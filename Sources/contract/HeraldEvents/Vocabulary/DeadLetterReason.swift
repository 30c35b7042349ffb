/// Why an event is in the dead-letter topic.
public enum DeadLetterReason: String, CaseIterable, Sendable {
    /// The value is no JSON, or no CloudEvents envelope.
    case malformed
    /// A field or a header breaks its rule.
    case invalid
    /// The value or the message is too large.
    case oversized
    /// The backend refused it for good.
    case rejected
    /// All calls that the settings allow were made.
    case attemptsExhausted = "attempts-exhausted"
    /// The time that the settings allow is over.
    case timeExhausted = "time-exhausted"
    /// Its `expiresAt` is past.
    case expired
    /// It was replayed as often as the settings allow.
    case replaysExhausted = "replays-exhausted"
    /// Its call may have reached the backend, no answer came, and the settings forbid to call again by itself.
    case unanswered
    /// No consumer can read the batch that it was published in: it stands for all records from there to the batch's end.
    case unreadable
}
