import Glibc

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
    /// Answer with this status and these headers at once, and with a body that goes on (chunked); the response's own body
    /// is not sent.
    case stream(HTTPResponse, HTTPStream)
    /// Close the connection without an answer when this time has passed.
    case hangUp(after: Duration = .zero)
    /// Never answer; the connection stays open until the client closes it or the server stops.
    case hang
}

/// What becomes of a request's body, decided by the head alone.
public enum HTTPBodyDecision: Sendable {
    /// It is read; a larger one is answered with 413.
    case read(limitBytes: Int)
    /// The request is answered without it, and the connection closed.
    case refuse(HTTPResponse)
}

/// A complete answer.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// Header fields beside `Date`, `Content-Length` and `Connection`, which the server writes itself.
    public var headers: HTTPHeaderFields
    /// The body's bytes.
    public var body: [UInt8]
    /// A file whose content is the body, in place of ``body``.
    public var file: HTTPFile?

    /// An answer from its parts.
    public init(status: Int, headers: HTTPHeaderFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer with a file's content.
    public init(status: Int, headers: HTTPHeaderFields = [:], file: HTTPFile) {
        self.init(status: status, headers: headers)
        self.file = file
    }

    /// How many bytes the body has.
    var byteCount: Int { file?.byteCount ?? body.count }

    /// An answer of plain text.
    public static func text(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// An answer of JSON that is written already.
    public static func json(_ json: [UInt8], status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: json)
    }
}

/// An open file as the body of an answer: it is read while it is sent, so its size takes no memory.
public final class HTTPFile: Sendable, Equatable {
    /// How many bytes are sent.
    public let byteCount: Int
    let descriptor: Int32

    /// - Parameters:
    ///   - descriptor: of a regular file; it is closed with this one.
    ///   - byteCount: the file has so many bytes, and they do not change any more.
    public init(takingOver descriptor: Int32, byteCount: Int) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    deinit { close(descriptor) }

    /// Whether both are the same.
    public static func == (left: HTTPFile, right: HTTPFile) -> Bool { left === right }
}
