import HeraldHTTP
import HeraldText

/// The addresses beside the hub: the feedback container, and the sandbox's controls for this machine alone.
enum HubControl: Equatable {
    case misbehaviour
    case calls
    case inbox(handle: String)
    case feedback
    case feedbackBlob(name: String)

    /// The control at a path; `nil` for paths of the hub.
    init?(_ segments: [String]) {
        guard segments.first == "sandbox" else { return nil }
        switch (segments.dropFirst().first, segments.count) {
        case ("misbehaviour", 2): self = .misbehaviour
        case ("calls", 2): self = .calls
        case ("inbox", 3): self = .inbox(handle: segments[2])
        case ("feedback", 2): self = .feedback
        case ("feedback", 3): self = .feedbackBlob(name: segments[2])
        default: return nil
        }
    }

    /// The answer; the container answers only with its signature.
    func response(to request: HTTPRequest, containerURL: String, signature: String, state: inout HubState)
        -> HTTPResponse
    {
        switch self {
        case .feedback, .feedbackBlob:
            var answer = feedback(request, containerURL: containerURL, signature: signature, state: state)
            answer.headers.append(name: "x-ms-version", value: request.headers["x-ms-version"] ?? "2018-03-28")
            if let id = request.headers["x-ms-client-request-id"] {
                answer.headers.append(name: "x-ms-client-request-id", value: id)
            }
            return answer
        case .misbehaviour, .calls, .inbox:
            guard request.isFromLoopback else {
                return .text("only this machine may control the sandbox\n", status: 403)
            }
            return control(request, state: &state).response(for: request)
        }
    }

    private func feedback(
        _ request: HTTPRequest, containerURL: String, signature: String, state: HubState
    ) -> HTTPResponse {
        func value(_ name: String) -> String { request.target.values(of: name).first ?? "" }
        guard request.target.values(of: "sig") == [signature] else {
            return FeedbackBlob.failure(403, "AuthenticationFailed")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return FeedbackBlob.failure(405, "UnsupportedHttpVerb")
        }
        if case .feedbackBlob(let name) = self {
            return state.feedback[name]?.response(method: request.method, request.headers)
                ?? FeedbackBlob.failure(404, "BlobNotFound")
        }
        guard value("comp") == "list" else { return FeedbackBlob.failure(400, "InvalidQueryParameterValue") }
        let text = state.feedback.list(
            containerURL: containerURL, prefix: value("prefix"), marker: value("marker"),
            limit: Int(value("maxresults")))
        return HTTPResponse(
            status: 200, headers: ["Content-Type": FeedbackBlob.mediaType], body: Array(text.utf8))
    }

    private func control(_ request: HTTPRequest, state: inout HubState) -> Reply {
        switch (self, request.method) {
        case (.misbehaviour, _):
            return state.rules.reply(to: request)
        case (.calls, "GET"): return .lines(state.sends.elements.map(\.jsonLine))
        case (.calls, "DELETE"):
            state.sends.removeAll()
            return .ok
        case (.inbox(let handle), "GET"): return .json(.array(state.deliveries(ofHandle: handle).map(\.json)))
        default: return .notAllowed(request)
        }
    }
}

extension HubSend {
    /// The send as one JSON line with its line break; unknown facts are left out.
    var jsonLine: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("number", .integer(number)), .init("receivedAt", .integer(Int(receivedAt))),
            .init("kind", .string(kind.rawValue)),
        ]
        for (name, text) in [("format", format), ("tags", tags), ("messageId", messageID)] {
            if let text { members.append(.init(name, .string(text))) }
        }
        if isTest { members.append(.init("test", true)) }
        members.append(.init("headers", .object(headers.map { .init($0.name, .string($0.value)) })))
        members.append(.init("body", .string(text)))
        if let status { members.append(.init("status", .integer(status))) }
        let counts = outcomes.sorted { $0.key.rawValue < $1.key.rawValue }.map { platform, counts in
            JSONValue.Member(
                platform.rawValue,
                .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }))
        }
        if !counts.isEmpty { members.append(.init("outcomes", .object(counts))) }
        return Array("\(JSONValue.object(members).compact)\n".utf8)
    }
}

extension HubDelivery {
    var json: JSONValue {
        .object([
            .init("platform", .string(platform.rawValue)),
            .init("headers", .object(headers.map { .init($0.name, .string($0.value)) })),
            .init("payload", .string(String(decoding: body, as: UTF8.self))), .init("at", .string(HubTime.text(at))),
        ])
    }
}
