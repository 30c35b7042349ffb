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
