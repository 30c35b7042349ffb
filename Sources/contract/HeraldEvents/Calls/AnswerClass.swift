/// What a status means, as settings write it; a ``CallVerdict`` says what a whole answer means, or its absence.
public enum AnswerClass: String, Sendable, CaseIterable {
    /// The backend took the message.
    case delivered
    /// It may work another time.
    case transient
    /// The backend does not accept our credentials: a matter for the operator, not of this event.
    case credentials
    /// It will never work: a dead letter at once.
    case rejected
}
