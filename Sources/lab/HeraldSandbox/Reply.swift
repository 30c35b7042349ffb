import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldTime

/// An answer of the reference backend or the emulated hub, before each gives it its own form.
struct Reply: Error {
    var status: Int
    var headers: HTTPHeaderFields = [:]
    var body: [UInt8] = []
    /// What went wrong, in one line; it becomes the error body.
    var fault: String?

    static let ok = Self(status: 200)

    static let notFromHere = failure(403, "only this machine may control the sandbox")

    static func failure(_ status: Int, _ fault: String) -> Self { Self(status: status, fault: fault) }

    static func json(_ value: JSONValue) -> Self { Self(status: 200, body: Array(value.compact.utf8)) }

    static func text(_ text: String, type: String, status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
    }

    /// The hub sends the type of XML even with an empty body.
    static func xml(_ text: String = "", status: Int = 200) -> Self {
        .text(text, type: "application/xml; charset=utf-8", status: status)
    }

    /// One JSON value on each line, which ends with its line break.
    static func lines(_ lines: [[UInt8]]) -> Self {
        Self(
            status: 200, headers: ["Content-Type": "application/jsonl; charset=utf-8"], body: lines.flatMap { $0 })
    }

    static func notAllowed(_ request: HTTPRequest) -> Self {
        .failure(405, "\(request.method) is not possible at \(request.target.path)")
    }

    /// The answer of a rule with a status; `nil` for one without an answer.
    init?(_ verdict: MisbehaviourRules.Verdict, at now: WallTime, by name: String) {
        guard case .respond(let status) = verdict.effect else { return nil }
        self = .failure(status, "\(name) was told to answer \(status)")
        if let retryAfter = verdict.retryAfter(at: now) { headers.append(name: "Retry-After", value: retryAfter) }
    }

    init(status: Int, headers: HTTPHeaderFields = [:], body: [UInt8] = [], fault: String? = nil) {
        (self.status, self.headers, self.body, self.fault) = (status, headers, body, fault)
    }

    /// The backend's answer; an error body is JSON or XML, as the client accepts it, the way ASP.NET writes them.
    func response(for request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body)
        let accepts = request.headers["Accept"] ?? ""
        if let fault, accepts.contains("application/xml") || accepts.contains("text/xml") {
            response.body = Array("<Error><Message>\(XMLText.escaped(fault))</Message></Error>".utf8)
            response.headers.append(name: "Content-Type", value: "application/xml; charset=utf-8")
        } else if let fault {
            response.body = Array(JSONValue.object([.init("Message", .string(fault))]).compact.utf8)
        }
        if !response.body.isEmpty, response.headers["Content-Type"] == nil {
            response.headers.append(name: "Content-Type", value: "application/json; charset=utf-8")
        }
        return response
    }

    /// The hub's answer, with the headers common to all answers of the service.
    func response(trackingID: String, time: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body)
        if let fault {
            let text = XMLText.escaped("\(fault).TrackingId:\(trackingID)_G0,TimeStamp:\(time)")
            response.body = Array("<Error><Code>\(status)</Code><Detail>\(text)</Detail></Error>".utf8)
            response.headers.append(name: "Content-Type", value: "application/xml; charset=utf-8")
        }
        response.headers.append(name: TrackingID.header, value: trackingID)
        response.headers.append(name: "x-ms-correlation-request-id", value: trackingID)
        response.headers.append(name: "Server", value: "herald-hub")
        return response
    }
}
