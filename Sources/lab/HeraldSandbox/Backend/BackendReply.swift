import HeraldBytes
import HeraldHTTP
import HeraldHub

/// An answer of the reference backend, independent of HTTP.
struct BackendReply {
    var status: Int
    var headers: HTTPHeaderFields = [:]
    var json: [UInt8] = []
    /// The error in one line; it becomes the error body.
    var message: String?

    static let ok = Self(status: 200)
    static let foreignTag = Self.failure(403, "a tag names another user")
    static let gone = Self.failure(410, "the registration is gone")

    static func failure(_ status: Int, _ message: String) -> Self {
        Self(status: status, message: message)
    }

    /// The HTTP answer; an error body is JSON or XML, as the client accepts it, in ASP.NET's form.
    func response(for request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: json)
        let accepts = request.headers["Accept"] ?? ""
        if let message, accepts.contains("application/xml") || accepts.contains("text/xml") {
            response.body = Array("<Error><Message>\(XMLText.escaped(message))</Message></Error>".utf8)
            response.headers.append(name: "Content-Type", value: "application/xml; charset=utf-8")
        } else if let message {
            response.body = Array("{\"Message\":".utf8) + JSONBytes.string(message) + [UInt8(ascii: "}")]
        }
        if !response.body.isEmpty, response.headers["Content-Type"] == nil {
            response.headers.append(name: "Content-Type", value: "application/json; charset=utf-8")
        }
        return response
    }
}

/// JSON strings, where convenience counts more than speed.
enum JSONBytes {
    /// The text as a JSON string with its quotes.
    static func string(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        JSONText.appendString(Array(text.utf8).span.bytes, to: &output)
        return output
    }

    static func text(_ text: String) -> String { String(decoding: string(text), as: UTF8.self) }
}
