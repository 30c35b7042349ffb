/// How an event ended for a push service.
public enum Outcome: String, CaseIterable, Sendable {
    /// The backend took it.
    case delivered
    /// It is in the dead-letter topic.
    case deadLettered = "dead-lettered"
    /// It was not sent before its `expiresAt`.
    case expired
    /// Its campaign was cancelled.
    case cancelled
    /// The same event came a short while ago, and its outcome is known: it was delivered, say.
    case duplicate
}
