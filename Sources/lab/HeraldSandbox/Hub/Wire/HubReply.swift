import HeraldHTTP
import HeraldHub

/// An answer of the emulated hub, independent of HTTP.
struct HubReply {
    var status: Int
    var headers: HTTPHeaderFields = [:]
    var body: [UInt8] = []
    /// The error; it becomes the error body, with tracking id and time added.
    var detail: String?

    static func failure(_ status: Int, _ detail: String) -> Self { Self(status: status, detail: detail) }

    static func unauthorized(_ name: String, _ code: Int, _ text: String) -> Self {
        .failure(401, "\(name): \(text). SubCode=\(code)")
    }

    static func text(_ text: String, type: String, status: Int = 200) -> Self {
        Self(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
    }

    static func xml(_ text: String, status: Int = 200) -> Self {
        .text(text, type: "application/xml; charset=utf-8", status: status)
    }

    /// An answer without a body but with its content type, as the service answers sends and installations.
    static func emptyXML(_ status: Int) -> Self { .xml("", status: status) }

    /// The HTTP answer with the headers common to all answers of the service.
    func response(trackingID: String, time: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body)
        if let detail {
            let text = XMLText.escaped("\(detail).TrackingId:\(trackingID)_G0,TimeStamp:\(time)")
            response.body = Array("<Error><Code>\(status)</Code><Detail>\(text)</Detail></Error>".utf8)
            response.headers.append(name: "Content-Type", value: "application/xml; charset=utf-8")
        }
        response.headers.append(name: "TrackingId", value: trackingID)
        response.headers.append(name: "x-ms-correlation-request-id", value: trackingID)
        response.headers.append(name: "Server", value: "herald-hub")
        return response
    }
}
