import HeraldCore
import HeraldHTTP
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldWorker
import TestSupport
import Testing

@testable import HeraldAdmin

@Suite("The admin port")
struct AdminServerTests {
    private static func server(host: String = "127.0.0.1", token: AdminServer.Token? = nil) throws -> AdminServer {
        let configuration = WorkerConfiguration(
            lanes: [], adminProperties: [], needsTransactions: false, requiredTopics: [], wishes: Reports.wishes,
            campaigns: CampaignConfiguration(topic: "c", worker: "w", readerProperties: [], writerProperties: []))
        return try AdminServer(
            host: host, port: 0, token: token, worker: Worker(configuration: configuration, logger: .silent),
            facts: AdminServer.Facts(version: "1", kafkaVersion: "2", droppedLogLines: { 7 }))
    }

    /// Answers a request with these lines, `Host` included.
    private func ask(_ port: UInt16, _ path: String, _ lines: [String], method: String = "GET") throws
        -> PlainHTTP.Answer
    {
        let connection = try PlainHTTP(port: port)
        try connection.send((["\(method) \(path) HTTP/1.1"] + lines).joined(separator: "\r\n") + "\r\n\r\n")
        return try connection.readAnswer()
    }

    @Test("A worker that has not started is alive and not ready, and has metrics in both formats")
    func pages() throws {
        let server = try Self.server()
        defer { server.stop() }
        #expect(try ask(server.port, "/livez", ["Host: x"]).status == 200)
        let ready = try ask(server.port, "/readyz", ["Host: x"])
        #expect(ready.status == 503 && ready.headers["content-type"]?.hasPrefix("application/json") == true)
        #expect(ready.text.contains("\"starting\"") && ready.headers["cache-control"] == "no-store")
        #expect(ready.text.contains(#""member": false"#))
        let plain = try ask(server.port, "/metrics", ["Host: localhost:1"])
        #expect(plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(plain.text.contains("\nherald_log_lines_dropped_total 7\n"))
        let open = try ask(server.port, "/metrics", ["Host: [::1]:1", "Accept: application/openmetrics-text"])
        #expect(open.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(open.text.hasSuffix("\n# EOF\n"))
    }

    @Test("One address has a limited number of connections, and gets them back")
    func connectionsOfAddress() throws {
        let server = try Self.server()
        defer { server.stop() }
        var silent = try (0..<AdminServer.connectionLimitOfNetwork).map { _ in try PlainHTTP(port: server.port) }
        #expect(throws: PlainHTTP.Failure.self) { try ask(server.port, "/livez", ["Host: x"]) }
        silent.removeAll()
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while (try? ask(server.port, "/livez", ["Host: x"]).status) != 200, ContinuousClock.now < end {}
        #expect(try ask(server.port, "/livez", ["Host: x"]).status == 200)
    }

    @Test("Reasons for waiting are given behind the gate, and only for named events")
    func waiting() throws {
        let open = try Self.server()
        defer { open.stop() }
        let answer = try ask(open.port, "/waiting?event=order-17&user=ann", ["Host: localhost"])
        #expect(answer.status == 200 && answer.text.contains(#""events": []"#), "\(answer.text)")
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(try ask(open.port, "/waiting", ["Host: localhost"]).status == 400)
        #expect(try ask(open.port, "/waiting?record=no/place", ["Host: localhost"]).status == 400)
        #expect(try ask(open.port, "/waiting?record=t/0/1", ["Host: localhost"]).status == 200)
        #expect(try ask(open.port, "/waiting?user=ann", ["Host: evil.example"]).status == 403)
        let head = try PlainHTTP(port: open.port)
        try head.send("HEAD /waiting?user=ann HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try head.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        let post = try ask(open.port, "/waiting?user=ann", ["Host: localhost", "Content-Length: 0"], method: "POST")
        #expect(post.status == 405)

        let guarded = try Self.server(token: { "secret" })
        defer { guarded.stop() }
        #expect(try ask(guarded.port, "/waiting?user=ann", ["Host: localhost"]).status == 401)
        let shown = ["Host: localhost", "Authorization: Bearer secret"]
        #expect(try ask(guarded.port, "/waiting?user=ann", shown).status == 200)
    }

    @Test("Only GET and HEAD are answered, and a missing page is not found")
    func methods() throws {
        let server = try Self.server()
        defer { server.stop() }
        for path in ["/livez", "/readyz", "/status", "/metrics"] {
            let answer = try ask(server.port, path, ["Host: 127.0.0.1", "Content-Length: 0"], method: "POST")
            #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD")
        }
        #expect(try ask(server.port, "/", ["Host: 127.0.0.1"]).status == 404)
        #expect(try ask(server.port, "/metrics/", ["Host: 127.0.0.1"]).status == 404)
    }

    @Test(
        "A name that another site points at this machine gets nothing but health",
        arguments: [
            "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.evil.example:9464", "0.0.0.0",
        ])
    func rebinding(host: String) throws {
        let server = try Self.server()
        defer { server.stop() }
        #expect(try ask(server.port, "/metrics", ["Host: \(host)"]).status == 403)
        #expect(try ask(server.port, "/status", ["Host: \(host)"]).status == 403)
        #expect(try ask(server.port, "/anything", ["Host: \(host)"]).status == 403)
        #expect(try ask(server.port, "/livez", ["Host: \(host)"]).status == 200)
        #expect(try ask(server.port, "/readyz", ["Host: \(host)"]).status == 503)
    }

    @Test("Off loopback everything but health and metrics requires the token, and is refused if none is set")
    func offLoopback() throws {
        let closed = try Self.server(host: "0.0.0.0")
        defer { closed.stop() }
        #expect(try ask(closed.port, "/livez", ["Host: x"]).status == 200)
        #expect(try ask(closed.port, "/metrics", ["Host: worker-1.example:9464"]).status == 200)
        #expect(try ask(closed.port, "/status", ["Host: worker-1.example:9464"]).status == 200)
        #expect(try ask(closed.port, "/anything", ["Host: 127.0.0.1", "Authorization: Bearer "]).status == 401)

        let secret = Guarded("first")
        let guarded = try Self.server(host: "0.0.0.0") { secret.withLock { $0 } }
        defer { guarded.stop() }
        func status(_ credentials: String...) throws -> Int {
            try ask(guarded.port, "/anything", ["Host: x"] + credentials.map { "Authorization: \($0)" }).status
        }
        #expect(try status() == 401 && status("Bearer wrong") == 401 && status("Basic first") == 401)
        #expect(try status("Bearer firs") == 401 && status("Bearer first1") == 401)
        #expect(try status("Bearer first") == 404 && status("bearer first") == 404)
        secret.withLock { $0 = "second" }
        #expect(try status("Bearer first") == 401 && status("Bearer second") == 404)
        #expect(try ask(guarded.port, "/metrics", ["Host: x"]).status == 200)
    }

    @Test("A token that is set is required on loopback too; an unreadable one opens nothing")
    func tokenOnLoopback() throws {
        let server = try Self.server { "secret" }
        defer { server.stop() }
        #expect(try ask(server.port, "/anything", ["Host: 127.0.0.1"]).status == 401)
        let broken = try Self.server { throw Unreadable() }
        defer { broken.stop() }
        #expect(try ask(broken.port, "/anything", ["Host: 127.0.0.1", "Authorization: Bearer secret"]).status == 500)
    }

    private struct Unreadable: Error {}

    @Test("A port in use is reported")
    func taken() throws {
        let server = try Self.server()
        defer { server.stop() }
        let error = #expect(throws: SystemError.self) {
            let configuration = WorkerConfiguration(
                lanes: [], adminProperties: [], needsTransactions: false, requiredTopics: [], wishes: Reports.wishes,
                campaigns: CampaignConfiguration(topic: "c", worker: "w", readerProperties: [], writerProperties: []))
            _ = try AdminServer(
                host: "127.0.0.1", port: server.port, token: nil,
                worker: Worker(configuration: configuration, logger: .silent),
                facts: AdminServer.Facts(version: "1", kafkaVersion: "2", droppedLogLines: { 0 }))
        }
        #expect(error?.isAddressInUse == true)
    }

    @Test("Silent clients, and clients that do not end their requests, delay no others")
    func silentClients() throws {
        let server = try Self.server()
        defer { server.stop() }
        let silent = try (0..<75).map { _ in try PlainHTTP(port: server.port) }
        let slow = try (0..<75).map { _ in try PlainHTTP(port: server.port) }
        for client in slow { try client.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ") }
        for _ in 0..<20 { #expect(try ask(server.port, "/metrics", ["Host: 127.0.0.1"]).status == 200) }
        for client in slow { try client.send("y\r\n\r\n") }
        for client in slow { #expect(try client.readAnswer().status == 200) }
        withExtendedLifetime(silent) {}
    }
}
