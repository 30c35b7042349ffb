import HeraldBackend
import HeraldText
import HeraldThreads
import TestSupport

/// A backend that answers each request as a test says, and remembers the requests.
final class FakeBackend: Sendable {
    private let seen: Seen
    private let server: ScriptedServer

    private final class Seen: Sendable {
        let requests = Guarded<[String]>([])
    }

    /// - Parameter answer: gets the request line and its number, from 0; `nil` hangs up.
    init(_ answer: @escaping @Sendable (_ line: String, _ number: Int) -> String?) throws {
        let seen = Seen()
        self.seen = seen
        server = try ScriptedServer { peer in
            while true {
                let request = try peer.readRequest()
                let number = seen.requests.withLock { requests in
                    requests.append(request)
                    return requests.count - 1
                }
                let line = request.prefix { $0 != "\r\n" }
                guard let answer = answer(String(line), number) else { return }
                try peer.write(answer)
            }
        }
    }

    var origin: String { server.origin }
    var requests: [String] { seen.requests.withLock { $0 } }

    /// The request lines, without the version, in order.
    var lines: [String] {
        requests.map { request in String(request.prefix { $0 != "\r\n" }).replacing(" HTTP/1.1", with: "") }
    }

    func stop() { server.stop() }

    func client(_ body: HTTPBody = .text, timeout: Duration = .seconds(20)) throws -> BackendClient {
        try BackendClient(configuration(body, timeout: timeout))
    }

    func configuration(_ body: HTTPBody = .text, timeout: Duration = .seconds(20)) throws -> BackendConfiguration {
        try BackendConfiguration(
            HTTPTarget(body: body), url: server.origin, timeout: timeout, connectionLimit: 4,
            credentials: .basic(username: "alice", password: Secret("alice")))
    }

    /// The headers that every request has: host, credentials and agent.
    var commonHeaders: String {
        "Host: 127.0.0.1:\(server.port)\r\nAuthorization: Basic YWxpY2U6YWxpY2U=\r\nUser-Agent: herald\r\n"
    }

    static func answer(_ status: Int, _ body: String = "", headers: String = "") -> String {
        "HTTP/1.1 \(status) X\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
