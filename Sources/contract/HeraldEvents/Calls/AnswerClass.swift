/// The meaning of a status, as settings write it; a ``CallVerdict`` is the meaning of a whole answer, or of its
/// absence.
public enum AnswerClass: String, Sendable, CaseIterable {
    /// The backend accepted the message.
    case delivered
    /// It may succeed later.
    case transient
    /// The backend does not accept our credentials: a matter for the operator, not of this event.
    case credentials
    /// It will never succeed: a dead letter at once.
    case rejected
}
