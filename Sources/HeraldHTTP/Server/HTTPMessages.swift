/// A complete request, as the server hands it to its handler.
public struct HTTPRequest: Sendable {
    /// The method as it was sent, for example `POST`.
    public let method: String
    /// The path and the query.
    public let target: HTTPTarget
    /// The header fields; what is not UTF-8 in a value is replaced by U+FFFD.
    public let headers: HTTPHeaderFields
    /// The body without any transfer coding, never larger than the server's limit.
    public let body: [UInt8]
    /// Whether the client's address belongs to this machine's loopback network.
    public let isFromLoopback: Bool
}

/// A complete answer.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// Header fields beside `Date`, `Content-Length` and `Connection`, which the server writes itself.
    public var headers: HTTPHeaderFields
    /// The body's bytes.
    public var body: [UInt8]

    /// An answer from its parts.
    public init(status: Int, headers: HTTPHeaderFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of plain text.
    public static func text(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// An answer of JSON that is written already.
    public static func json(_ json: [UInt8], status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: json)
    }
}

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
