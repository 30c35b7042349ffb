import Foundation
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("A pool of connections with our own server")
struct ServedHTTP2Tests {
    /// A server that speaks both versions, and how a pool reaches it.
    private final class Fixture {
        let server: HTTPServer
        let file = FileManager.default.temporaryDirectory.appending(path: "herald-h2-\(UUID().uuidString).pem").path
        private let scheme: String

        init(_ wire: HTTP2Wire, threads: Int = 1, handler: @escaping HTTPServer.Handler) throws {
            var configuration = HTTPServer.Configuration()
            configuration.speaksHTTP2 = true
            configuration.threads = threads
            if wire == .tls {
                let identity = try LocalIdentity()
                try identity.writeAuthority(to: file)
                configuration.identity = identity
            }
            scheme = wire == .tls ? "https" : "http"
            server = try HTTPServer(configuration, handler: handler)
        }

        deinit {
            server.stop()
            unlink(file)
        }

        func driver(_ versions: HTTPVersions, limit: Int = 4) throws -> PoolDriver {
            let tls = scheme == "https" ? TLSFiles(caFile: file) : TLSFiles()
            return try PoolDriver(
                ConnectionOptions(
                    origin: "\(scheme)://127.0.0.1:\(server.port)", limit: limit, tls: tls, versions: versions))
        }
    }

    @Test(
        "A thousand calls are answered, each as itself, on one connection",
        arguments: HTTP2Wire.allCases, [1, 2])
    func manyCalls(wire: HTTP2Wire, threads: Int) throws {
        let fixture = try Fixture(wire, threads: threads) { request in
            let number = request.target.values(of: "n").first ?? ""
            let response = HTTPResponse(status: 200, body: Array(number.utf8))
            return (Int(number) ?? 0) % 3 == 0 ? .respondLater(response, after: .milliseconds(5)) : .respond(response)
        }
        let driver = try fixture.driver(wire == .tls ? .agreed : .http2, limit: 1)
        for token in 1...UInt64(1_000) {
            driver.begin(token, request: "POST /?n=\(token) HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi")
        }
        let ended = driver.finish(1_000)
        #expect(ended.allSatisfy { $0.status == 200 && $0.body == "\($0.token)" })
        #expect(driver.pool.sharedConnectionCount == 1 && driver.pool.connectionCount == 1)
        driver.pool.close()
    }

    @Test("Calls over HTTP/1.1 and HTTP/2 are answered on the same port", arguments: HTTP2Wire.allCases)
    func bothVersions(wire: HTTP2Wire) throws {
        let fixture = try Fixture(wire) { .respond(.text("\($0.body.count)")) }
        let old = try fixture.driver(.http1)
        let new = try fixture.driver(.http2)
        for _ in 1...3 {
            #expect(old.call()?.body == "2")
            #expect(new.call()?.body == "2")
        }
        #expect(old.pool.sharedConnectionCount == 0 && new.pool.sharedConnectionCount == 1)
        old.pool.close()
        new.pool.close()
    }

    @Test("A call that is given up costs the others on its connection nothing", arguments: HTTP2Wire.allCases)
    func givenUp(wire: HTTP2Wire) throws {
        let waiting = Guarded(0)
        let fixture = try Fixture(wire) { request in
            guard request.target.path == "/hang" else { return .respond(.text("ok")) }
            waiting.withLock { $0 += 1 }
            return .hang
        }
        let driver = try fixture.driver(.http2, limit: 1)
        driver.begin(1, request: "GET /hang HTTP/1.1\r\nHost: here\r\n\r\n", milliseconds: 600_000)
        #expect(driver.run { waiting.withLock { $0 } == 1 })
        #expect(driver.cancel(1))
        driver.begin(2)
        #expect(driver.finish(1).first?.status == 200)
        #expect(driver.pool.sharedConnectionCount == 1)
        driver.pool.close()
    }

    @Test(
        "A server that stops answers what it can, and loses no call that it did not take", arguments: HTTP2Wire.allCases
    )
    func stops(wire: HTTP2Wire) throws {
        let waiting = Guarded(0)
        let fixture = try Fixture(wire) { request in
            waiting.withLock { $0 += 1 }
            return request.target.path == "/hang" ? .hang : .respondLater(.text("late"), after: .seconds(600))
        }
        let driver = try fixture.driver(.http2, limit: 1)
        for token in 1...UInt64(8) {
            let path = token % 2 == 0 ? "/hang" : "/late"
            driver.begin(token, request: "GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n", milliseconds: 600_000)
        }
        #expect(driver.run { waiting.withLock { $0 } == 8 })
        fixture.server.stop()
        for ended in driver.finish(8) {
            let isLate = ended.token % 2 == 1
            #expect(isLate ? ended.body == "late" : ended.failure == .connectionReset && ended.isSent)
        }
        driver.pool.close()
    }
}
