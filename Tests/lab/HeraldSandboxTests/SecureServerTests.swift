import Foundation
import HeraldHTTP
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("The HTTP server over TLS")
struct SecureServerTests {
    /// A server with its own certificate, and the file of its authority.
    private final class Fixture: Sendable {
        let server: HTTPServer
        let file = FileManager.default.temporaryDirectory.appending(path: "herald-tls-\(UUID().uuidString).pem").path

        init(
            host: String = "127.0.0.1", threads: Int = 1, handler: @escaping HTTPServer.Handler
        ) throws {
            var configuration = HTTPServer.Configuration()
            configuration.host = host
            configuration.threads = threads
            let identity = try LocalIdentity()
            try identity.writeAuthority(to: file)
            configuration.identity = identity
            server = try HTTPServer(configuration, handler: handler)
        }

        deinit {
            server.stop()
            unlink(file)
        }

        func get(
            _ path: String = "/", host: String = "127.0.0.1", body: [UInt8] = [], timeout: Milliseconds = .minutes(1)
        ) -> SingleRequest.Outcome {
            SingleRequest(
                .post(body, mediaType: "text/plain"), url: "https://\(host):\(server.port)\(path)", authorization: nil,
                timeout: timeout, proxy: nil, tls: TLSFiles(caFile: file)
            ).perform()
        }
    }

    @Test(
        "presents a certificate that its authority verifies, by name and by address",
        arguments: [("127.0.0.1", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
    func names(listening: String, called: String) throws {
        let fixture = try Fixture(host: listening) { .respond(HTTPResponse(status: 200, body: $0.body)) }
        let body = Array(repeating: UInt8(ascii: "x"), count: 60_000)
        #expect(Self.text(fixture.get(host: called, body: body)) == String(decoding: body, as: UTF8.self))
    }

    @Test(
        "answers late, closes, or leaves a connection hanging, while it serves others", arguments: [1, 2])
    func suspended(threads: Int) async throws {
        let fixture = try Fixture(threads: threads) { request in
            switch request.target.path {
            case "/late": .respondLater(.text("late"), after: .milliseconds(200))
            case "/later": .respondLater(.text("later"), after: .milliseconds(1_200))
            case "/close": .hangUp(after: .milliseconds(100))
            case "/hang": .hang
            default: .respond(.text("here"))
            }
        }
        async let late = Blocking.run { Self.text(fixture.get("/late")) }
        async let later = Blocking.run { Self.text(fixture.get("/later")) }
        async let closed = Blocking.run { Self.text(fixture.get("/close")) }
        async let hanging = Blocking.run { Self.text(fixture.get("/hang", timeout: .milliseconds(500))) }
        for _ in 0..<20 { #expect(Self.text(fixture.get()) == "here") }
        #expect(try await late == "late")
        #expect(try await later == "later")
        #expect(try await closed == nil)
        #expect(try await hanging == nil)
        #expect(Self.text(fixture.get()) == "here")
    }

    @Test("stops while connections wait")
    func stops() async throws {
        let asked = Guarded(false)
        let fixture = try Fixture { _ in
            asked.withLock { $0 = true }
            return .hang
        }
        let hanging = Blocking.begin { Self.text(fixture.get()) }
        #expect(try await eventually { asked.withLock { $0 } })
        fixture.server.stop()
        #expect(try await hanging.value == nil)
    }

    @Test("cannot be reached without its authority")
    func authority() throws {
        let (first, second) = (try Fixture { _ in .hangUp() }, try Fixture { _ in .hangUp() })
        let outcome = SingleRequest(
            .get, url: "https://127.0.0.1:\(first.server.port)/", authorization: nil, timeout: .minutes(1),
            proxy: nil, tls: TLSFiles(caFile: second.file)
        ).perform()
        guard case .failure(.tls, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    private static func text(_ outcome: SingleRequest.Outcome) -> String? {
        if case .response(let response) = outcome { String(decoding: response.body, as: UTF8.self) } else { nil }
    }
}
