/// What a handler decides about one request.
public enum HTTPAnswer: Sendable {
    /// Answer at once.
    case respond(HTTPResponse)
    /// Answer when this time has passed; no thread waits for it.
    case respondLater(HTTPResponse, after: Duration)
    /// Answer when the closure's responder is told what, on any thread; no thread of the server waits for it.
    ///
    /// The closure must not block.
    case respondWhenReady(@Sendable (HTTPResponder) -> Void)
    /// Answer with this status and these headers at once, and with a body that goes on (RFC 9112, chunked); the response's
    /// own body is not sent.
    case stream(HTTPResponse, HTTPStream)
    /// Close the connection without an answer when this time has passed.
    case hangUp(after: Duration = .zero)
    /// Never answer; the connection stays open until the client closes it or the server stops.
    case hang
}
