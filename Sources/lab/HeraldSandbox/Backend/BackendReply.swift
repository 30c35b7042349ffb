import HeraldHTTP
import HeraldHub
import HeraldText

/// An answer of the reference backend, independent of HTTP.
struct BackendReply {
    var status: Int
    var headers: HTTPHeaderFields = [:]
    var json: [UInt8] = []
    /// What went wrong, in one line; becomes the error body.
    var message: String?

    static let ok = Self(status: 200)
    static let foreignTag = Self.failure(403, "a tag names another user")
    static let gone = Self.failure(410, "the registration is gone")

    static func failure(_ status: Int, _ message: String) -> Self {
        Self(status: status, message: message)
    }

    /// The HTTP answer; an error body is JSON or XML, as the client accepts it, the way ASP.NET writes them.
    func response(for request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: json)
        let accepts = request.headers["Accept"] ?? ""
        if let message, accepts.contains("application/xml") || accepts.contains("text/xml") {
            response.body = Array("<Error><Message>\(XMLText.escaped(message))</Message></Error>".utf8)
            response.headers.append(name: "Content-Type", value: "application/xml; charset=utf-8")
        } else if let message {
            response.body = JSONValue.object([.init("Message", .string(message))]).bytes
        }
        if !response.body.isEmpty, response.headers["Content-Type"] == nil {
            response.headers.append(name: "Content-Type", value: "application/json; charset=utf-8")
        }
        return response
    }
}

extension JSONValue {
    /// On one line.
    var bytes: [UInt8] { Array(compact.utf8) }
}
