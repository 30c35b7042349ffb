/// What a handler decides about one request; what it says of the connection is the stream's over HTTP/2.
public enum HTTPAnswer: Sendable {
    /// Answer at once.
    case respond(HTTPResponse)
    /// Answer when this time has passed; no thread waits for it.
    case respondLater(HTTPResponse, after: Duration)
    /// Answer when the closure's responder is told what, on any thread; no thread of the server waits for it.
    ///
    /// The closure must not block.
    case respondWhenReady(@Sendable (HTTPResponder) -> Void)
    /// Answer with this status and these headers at once, and with a body that goes on (chunked over HTTP/1.1); the
    /// response's own body is not sent.
    case stream(HTTPResponse, HTTPStream)
    /// Close the connection without an answer when this time has passed (RST_STREAM with INTERNAL_ERROR over HTTP/2).
    case hangUp(after: Duration = .zero)
    /// Never answer; the connection stays open until the client closes it or the server stops.
    case hang
}
