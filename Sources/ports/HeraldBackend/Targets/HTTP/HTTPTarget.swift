internal import HeraldBytes
public import HeraldEvents

/// What the body of a call to a backend of kind `http` is.
public enum HTTPBody: String, Sendable, CaseIterable {
    /// The message, a JSON string.
    case text
    /// An object with the message and all other parts of the notification.
    case object

    /// The parts beside the message that it holds.
    package var content: ContentFields { self == .object ? .all : [] }
}

/// A backend with Herald's own contract: what is the same in all requests is written once.
public final class HTTPTarget: Target {
    private let body: HTTPBody
    /// `POST {path}?pns=`.
    private let start: [UInt8]
    /// Everything between the user and the length of the body.
    private let middle: [UInt8]

    /// It has an `Idempotency-Key`.
    public var repeatsUnanswered: Bool { true }

    /// One that knows no address yet.
    public convenience init(body: HTTPBody = .text) { self.init(body, path: "", headers: "") }

    private init(_ body: HTTPBody, path: String, headers: String) {
        self.body = body
        start = Array("POST \(path)?pns=".utf8)
        middle = Array(" HTTP/1.1\r\n\(headers)Content-Type: application/json; charset=utf-8\r\nContent-Length: ".utf8)
    }

    /// The same at the address of the settings, with this value of `Authorization`.
    public func showing(
        _ authorization: String?, of configuration: BackendConfiguration, session: UInt64
    ) -> HTTPTarget {
        HTTPTarget(
            body, path: configuration.path,
            headers: RequestWriter.commonHeaders(
                authority: configuration.address.authority, authorization: authorization))
    }

    /// A text holds the message alone.
    public func carries(to pushService: String) -> ContentFields { body.content }

    /// Writes the request of a call; each has one.
    public func write(
        _ call: borrowing TargetCall, of event: borrowing DecodedEvent, value: RawSpan, scratch: inout [UInt8],
        begin: (_ write: (inout [UInt8]) -> Void) -> Void
    ) -> CallResult? {
        let (pushService, ownTraceparent) = (call.pushService, call.traceparent)
        let user = event.bytes(of: event.user, value: value)
        let id = event.bytes(of: event.replayKey.isPresent ? event.replayKey : event.id, value: value)
        let source = event.source.isPresent ? event.bytes(of: event.source, value: value) : nil
        let traceparent =
            !ownTraceparent.isEmpty
            ? ownTraceparent.span.bytes
            : event.traceparent.isPresent ? event.bytes(of: event.traceparent, value: value) : nil
        appendBody(of: event, value: value, to: &scratch)
        begin { output in
            output.append(contentsOf: start)
            PercentEncoding.append(pushService.span.bytes, to: &output)
            output.append(text: "&to_tag=")
            PercentEncoding.append(user, to: &output)
            output.append(contentsOf: middle)
            output.append(decimal: Int64(scratch.count))
            output.append(text: "\r\nIdempotency-Key: ")
            IdempotencyKey.append(
                id: id, user: user, source: source, pushService: pushService.span.bytes, to: &output)
            if let traceparent {
                output.append(text: "\r\ntraceparent: ")
                output.append(copying: traceparent)
            }
            output.append(text: "\r\n\r\n")
            output.append(contentsOf: scratch)
        }
        return nil
    }

    private func appendBody(of event: borrowing DecodedEvent, value: RawSpan, to output: inout [UInt8]) {
        let message = event.bytes(of: event.message, value: value)
        guard body == .object else { return JSONText.appendString(message, to: &output) }
        output.append(text: "{\"message\":")
        JSONText.appendString(message, to: &output)
        if !event.content.isEmpty {
            let content = event.content(in: value)
            for field in ContentField.allCases { content.appendMember(field, to: &output) }
        }
        output.append(text: "}")
    }
}
