import Foundation
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("HTTP/2 with other servers")
struct ForeignHTTP2Tests {
    private static let request =
        "POST /x?y=z HTTP/1.1\r\nHost: here\r\nAuthorization: Basic abc\r\nContent-Length: 2\r\n\r\nhi"

    private func driver(_ server: HTTP2Server, isEncrypted: Bool, limit: Int = 4) throws -> PoolDriver {
        let tls = TLSFiles(caFile: try TestCertificates.shared().authorityFile)
        return try PoolDriver(
            ConnectionOptions(
                origin: server.origin, limit: limit, tls: tls, versions: isEncrypted ? .agreed : .http2))
    }

    @Test(
        "Each of many calls is answered, over few connections with few streams, with or without agreement",
        arguments: HTTP2Server.Kind.allCases, [true, false])
    func manyCalls(kind: HTTP2Server.Kind, isEncrypted: Bool) async throws {
        guard let server = try HTTP2Server(kind, isEncrypted: isEncrypted, streams: 8) else { return }
        defer { server.stop() }
        #expect(try await server.listens(), "\(server.output)")
        let driver = try driver(server, isEncrypted: isEncrypted)
        for token in 1...UInt64(500) { driver.begin(token, request: Self.request) }
        let ended = driver.finish(500)
        #expect(
            ended.allSatisfy { $0.status == 200 && $0.failure == nil }, "\(ended.first { $0.status != 200 } as Any)")
        #expect(driver.pool.sharedConnectionCount == driver.pool.connectionCount)
        #expect((1...4).contains(driver.pool.connectionCount))
        driver.pool.close()
    }

    @Test(
        "Connections that close after some calls cost none of them",
        arguments: [HTTP2Server.Kind.nginx, .apache2], [true, false])
    func goingAway(kind: HTTP2Server.Kind, isEncrypted: Bool) async throws {
        guard let server = try HTTP2Server(kind, isEncrypted: isEncrypted, calls: 20) else { return }
        defer { server.stop() }
        #expect(try await server.listens(), "\(server.output)")
        let driver = try driver(server, isEncrypted: isEncrypted, limit: 2)
        var token: UInt64 = 0
        for _ in 1...20 {
            for _ in 1...30 {
                token += 1
                driver.begin(token, request: Self.request)
            }
            let ended = driver.finish(30)
            #expect(ended.allSatisfy { $0.status == 200 }, "\(ended.first { $0.status != 200 } as Any)")
        }
        driver.pool.close()
    }

    @Test("A server that reloads its configuration still answers every call", arguments: [true, false])
    func reload(isEncrypted: Bool) async throws {
        guard let server = try HTTP2Server(.nginx, isEncrypted: isEncrypted) else { return }
        defer { server.stop() }
        #expect(try await server.listens(), "\(server.output)")
        let driver = try driver(server, isEncrypted: isEncrypted, limit: 2)
        for round in 1...20 {
            for token in 1...UInt64(30) { driver.begin(token, request: Self.request) }
            if round % 5 == 0 { server.reload() }
            let ended = driver.finish(30)
            #expect(ended.allSatisfy { $0.status == 200 }, "\(ended.first { $0.status != 200 } as Any)")
        }
        driver.pool.close()
    }
}
