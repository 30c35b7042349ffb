/// What a handler decides about one request.
public enum HTTPAnswer: Sendable {
    /// Answer at once.
    case respond(HTTPResponse)
    /// Answer when this time has passed; no thread waits for it.
    case respondLater(HTTPResponse, after: Duration)
    /// Close the connection without an answer when this time has passed.
    case hangUp(after: Duration = .zero)
    /// Never answer; the connection stays open until the client closes it or the server stops.
    case hang
}
