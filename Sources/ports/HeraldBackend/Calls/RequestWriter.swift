internal import HeraldBytes

/// Writes requests that concern no event.
struct RequestWriter {
    private let headers: [UInt8]

    init(authority: String, authorization: String?) {
        headers = Array(Self.commonHeaders(authority: authority, authorization: authorization).utf8)
    }

    /// `Host`, `Authorization` and `User-Agent`, each with its line end.
    static func commonHeaders(authority: String, authorization: String?) -> String {
        let credentials = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        return "Host: \(authority)\r\n\(credentials)User-Agent: herald\r\n"
    }

    /// Appends a request; its target is the path with everything encoded that has to be.
    func append(method: String, target: String, json body: String?, to output: inout [UInt8]) {
        output.append(contentsOf: "\(method) \(target) HTTP/1.1\r\n".utf8)
        output.append(contentsOf: headers)
        if let body {
            output.append(text: "Content-Type: application/json; charset=utf-8\r\n")
            output.append(contentsOf: "Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        } else if method == "GET" || method == "DELETE" {
            output.append(text: "\r\n")
        } else {
            output.append(text: "Content-Length: 0\r\n\r\n")
        }
    }
}
