internal import HeraldBytes

/// Writes requests as bytes; what is the same in all of them is written once.
///
/// Not copyable: an object that stores it would copy it for each request, with a reference count for each of its
/// arrays.
struct RequestWriter: ~Copyable {
    /// `Host`, `Authorization` and `User-Agent`, each with its line end.
    private let commonHeaders: [UInt8]
    /// `POST {path}?pns=`.
    private let notificationStart: [UInt8]
    /// Everything between a notification's user and the length of its body.
    private let notificationMiddle: [UInt8]
    private let path: [UInt8]

    /// - Parameter authorization: the value of that header; `nil` leaves it out.
    init(_ configuration: BackendConfiguration, authorization: String?) {
        var headers = "Host: \(configuration.address.authority)\r\n"
        if let authorization {
            headers += "Authorization: \(authorization)\r\n"
        }
        headers += "User-Agent: herald\r\n"
        commonHeaders = Array(headers.utf8)
        path = Array(configuration.path.utf8)
        notificationStart = Array("POST \(configuration.path)?pns=".utf8)
        notificationMiddle = Array(
            " HTTP/1.1\r\n\(headers)Content-Type: application/json; charset=utf-8\r\nContent-Length: ".utf8)
    }

    /// Appends the call for one notification.
    ///
    /// - Parameters:
    ///   - id: the event's id, or the key of its replay, for the ``IdempotencyKey``.
    ///   - source: the event's, if it has one.
    ///   - scratch: memory for the body, whose length is written in front of it.
    func appendNotification(
        pushService: RawSpan, user: RawSpan, message: RawSpan, id: RawSpan, source: RawSpan?, traceparent: RawSpan?,
        scratch: inout [UInt8], to output: inout [UInt8]
    ) {
        scratch.removeAll(keepingCapacity: true)
        JSONText.appendString(message, to: &scratch)
        output.append(contentsOf: notificationStart)
        PercentEncoding.append(pushService, to: &output)
        output.append(text: "&to_tag=")
        PercentEncoding.append(user, to: &output)
        output.append(contentsOf: notificationMiddle)
        output.append(decimal: Int64(scratch.count))
        output.append(text: "\r\nIdempotency-Key: ")
        IdempotencyKey.append(id: id, user: user, source: source, pushService: pushService, to: &output)
        if let traceparent {
            output.append(text: "\r\ntraceparent: ")
            output.append(copying: traceparent)
        }
        output.append(text: "\r\n\r\n")
        output.append(contentsOf: scratch)
    }

    /// Appends any other request; its target is the path with everything encoded that has to be.
    func append(method: String, target: String, json body: String?, to output: inout [UInt8]) {
        output.append(contentsOf: "\(method) \(target) HTTP/1.1\r\n".utf8)
        output.append(contentsOf: commonHeaders)
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
