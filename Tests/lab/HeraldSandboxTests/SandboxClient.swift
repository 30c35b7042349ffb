import Foundation
import HeraldSandbox
import TestSupport
import Testing

/// A caller of a reference backend over real HTTP.
struct SandboxClient {
    let port: UInt16
    var user = "ann"

    /// A backend and its first caller.
    static func start(
        _ change: (inout ReferenceBackend.Configuration) -> Void = { _ in }
    ) throws -> (ReferenceBackend, SandboxClient) {
        var configuration = ReferenceBackend.Configuration()
        change(&configuration)
        let backend = try ReferenceBackend(configuration)
        return (backend, SandboxClient(port: backend.port))
    }

    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    func with(user: String) -> SandboxClient { SandboxClient(port: port, user: user) }

    func call(
        _ method: String, _ target: String, body: String? = nil, headers: [String: String] = [:]
    ) throws -> PlainHTTP.Answer {
        let all = headers.merging(["Authorization": Self.basic(user, user)]) { given, _ in given }
        return try PlainHTTP.request(port: port, method, target, headers: all, body: body)
    }

    /// Requests a registration id.
    func newID(handle: String? = nil) throws -> String {
        let answer = try call("POST", "/api/register" + (handle.map { "?handle=\($0)" } ?? ""))
        #expect(answer.status == 200)
        return try JSONDecoder().decode(String.self, from: Data(answer.body))
    }

    func put(_ id: String, _ platform: String, _ handle: String, tags: [String] = []) throws -> Int {
        let body = try JSONSerialization.data(
            withJSONObject: ["Platform": platform, "Handle": handle, "Tags": tags] as [String: Any])
        return try call("PUT", "/api/register/\(id)", body: String(decoding: body, as: UTF8.self)).status
    }

    /// Registers a device as the mobile client does.
    @discardableResult
    func register(_ platform: String, _ handle: String) throws -> String {
        let id = try newID()
        #expect(try put(id, platform, handle) == 200)
        return id
    }

    func notify(_ pns: String, _ user: String, _ message: String = "hi", key: String? = nil) throws -> PlainHTTP.Answer
    {
        let body = try JSONEncoder().encode(message)
        return try call(
            "POST", "/api/notifications?pns=\(pns)&to_tag=\(user)", body: String(decoding: body, as: UTF8.self),
            headers: key.map { ["Idempotency-Key": $0] } ?? [:])
    }

    struct Received: Decodable, Equatable {
        var pns: String
        var payload: String
        var at: String
    }

    func inbox(_ handle: String) throws -> [Received] {
        let answer = try call("GET", "/api/inbox/\(handle)")
        #expect(answer.status == 200)
        return try JSONDecoder().decode([Received].self, from: Data(answer.body))
    }
}
