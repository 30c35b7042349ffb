/// What becomes of a request's body, decided by the head alone.
public enum HTTPBodyDecision: Sendable {
    /// It is read; a larger one is answered with 413.
    case read(limitBytes: Int)
    /// The request is answered without it, and the connection closed.
    case refuse(HTTPResponse)
}
