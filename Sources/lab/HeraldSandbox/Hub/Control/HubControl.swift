import HeraldHTTP
import HeraldText

/// What lies below `sandbox`, beside the hub: the feedback container, and the sandbox's controls for this machine alone.
struct HubControl {
    let request: HTTPRequest
    let containerURL: String
    /// The container answers only with it.
    let signature: String

    /// The answer at a path below `sandbox`; `nil` where nothing is.
    func response(at path: [String], state: inout HubState) -> HTTPResponse? {
        switch (path.first, path.count) {
        case ("feedback", 1...2):
            var answer = feedback(blob: path.dropFirst().first, state)
            answer.headers.append(name: "x-ms-version", value: request.headers["x-ms-version"] ?? "2018-03-28")
            if let id = request.headers["x-ms-client-request-id"] {
                answer.headers.append(name: "x-ms-client-request-id", value: id)
            }
            return answer
        case ("misbehaviour", 1), ("calls", 1), ("inbox", 2):
            guard request.isFromLoopback else {
                return .text("only this machine may control the sandbox\n", status: 403)
            }
            return control(path, state: &state).response(for: request)
        default: return nil
        }
    }

    private func feedback(blob: String?, _ state: HubState) -> HTTPResponse {
        func value(_ name: String) -> String { request.target.values(of: name).first ?? "" }
        guard request.target.values(of: "sig") == [signature] else {
            return FeedbackBlob.failure(403, "AuthenticationFailed")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return FeedbackBlob.failure(405, "UnsupportedHttpVerb")
        }
        if let blob {
            return state.feedback[blob]?.response(method: request.method, request.headers)
                ?? FeedbackBlob.failure(404, "BlobNotFound")
        }
        guard value("comp") == "list" else { return FeedbackBlob.failure(400, "InvalidQueryParameterValue") }
        let text = state.feedback.list(
            containerURL: containerURL, prefix: value("prefix"), marker: value("marker"),
            limit: Int(value("maxresults")))
        return HTTPResponse(
            status: 200, headers: ["Content-Type": FeedbackBlob.mediaType], body: Array(text.utf8))
    }

    private func control(_ path: [String], state: inout HubState) -> Reply {
        switch (path[0], request.method) {
        case ("misbehaviour", _): return state.rules.reply(to: request)
        case ("calls", "GET"): return .lines(state.sends.elements.map(\.jsonLine))
        case ("calls", "DELETE"):
            state.sends.removeAll()
            return .ok
        case ("inbox", "GET"): return .json(.array(state.deliveries(ofHandle: path[1]).map(\.json)))
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
