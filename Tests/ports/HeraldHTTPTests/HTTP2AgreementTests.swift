import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

private let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

@Suite("The choice of the HTTP version")
struct HTTP2AgreementTests {
    private func driver(_ server: ScriptedServer, _ versions: HTTPVersions) throws -> PoolDriver {
        let tls = TLSFiles(caFile: try TestCertificates.shared().authorityFile)
        return try PoolDriver(ConnectionOptions(origin: server.origin, limit: 4, tls: tls, versions: versions))
    }

    @Sendable
    private static func answerInHTTP1(_ peer: ScriptedPeer) throws {
        while true {
            _ = try peer.readRequest()
            try peer.write(okay)
        }
    }

    @Test("HTTP/2 where both sides agree to it, HTTP/1.1 where one does not", arguments: [true, false])
    func agreement(isAsked: Bool) throws {
        let identity = try TestCertificates.shared().good
        let server = try ScriptedServer(tls: isAsked ? identity : identity.withHTTP2, script: Self.answerInHTTP1)
        defer { server.stop() }
        let driver = try driver(server, isAsked ? .agreed : .http1)
        for _ in 1...3 { #expect(driver.call()?.status == 200) }
        #expect(server.acceptedCount == 1 && driver.pool.sharedConnectionCount == 0)
        driver.pool.close()
    }

    @Test("HTTP/2 that is demanded and refused fails calls before they are sent")
    func demanded() throws {
        let server = try ScriptedServer(tls: try TestCertificates.shared().good, script: Self.answerInHTTP1)
        defer { server.stop() }
        let driver = try driver(server, .http2)
        let ended = try #require(driver.call())
        #expect(ended.failure == .connectFailed && ended.body.contains("HTTP/2") && !ended.isSent)
        driver.pool.close()
    }

    @Test(
        "A server that requires HTTP/1.1 gets the call over it, and is offered HTTP/2 again after ten minutes",
        arguments: [true, false])
    func required(isGoodbye: Bool) throws {
        let identity = try TestCertificates.shared().good.withHTTP2
        let versions = Guarded<[String]>([])
        let server = try ScriptedServer(tls: identity) { peer in
            let number = versions.withLock { $0.count }
            guard number == 0 || number == 2 else {
                versions.withLock { $0.append("1.1") }
                return try Self.answerInHTTP1(peer)
            }
            versions.withLock { $0.append("2") }
            let peer = try HTTP2Peer(peer, settings: [:])
            let call = try peer.readCall()
            if number == 2 { return try peer.answer(call.stream) }
            if isGoodbye {
                try peer.goAway(last: 0, .http11Required)
            } else {
                try peer.reset(call.stream, .http11Required)
            }
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try driver(server, .agreed)
        for _ in 1...2 { #expect(driver.call()?.status == 200) }
        #expect(versions.withLock { $0 } == ["2", "1.1"])
        driver.ahead += ConnectionPool.fallbackTime.count
        #expect(driver.call()?.status == 200)
        #expect(versions.withLock { $0 } == ["2", "1.1", "2"])
        driver.pool.close()
    }

    @Test("A server without HTTP/2, called by prior knowledge, sees no call")
    func priorKnowledge() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.read(exactly: 24)
            try peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try driver(server, .http2)
        let ended = try #require(driver.call())
        #expect(ended.failure == .brokenHTTP && ended.body.contains("does not speak HTTP/2") && !ended.isSent)
        driver.pool.close()
    }

    @Test("A goodbye as greeting fails a call before it is sent; after a silence another connection is tried")
    func noGreeting() throws {
        let goodbye = try HTTP2Wire.plain.server(settings: nil) { peer in
            try peer.write(
                [HTTP2Peer.Frame(type: HTTP2Peer.Frame.settings)] + [
                    .init(
                        type: HTTP2Peer.Frame.goAway, payload: [0, 0, 0, 0, 0, 0, 0, 0])
                ])
            peer.readToEnd()
        }
        defer { goodbye.stop() }
        let first = try driver(goodbye, .http2)
        let ended = try #require(first.call())
        #expect(ended.failure == .connectionReset && !ended.isSent)
        let silent = try HTTP2Wire.plain.server(settings: nil) { peer in peer.readToEnd() }
        defer { silent.stop() }
        let second = try driver(silent, .http2)
        second.begin(1, milliseconds: 600_000)
        #expect(second.run { silent.openCount == 1 && second.pool.connectionCount == 0 })
        second.ahead += 60_000
        #expect(second.run { silent.acceptedCount == 2 })
        second.ahead += 600_000
        let late = try #require(second.finish(1).first)
        #expect(late.failure == .timeout && !late.isSent)
        first.pool.close()
        second.pool.close()
    }

    @Test("Through a proxy's tunnel HTTP/2 works as without one")
    func proxy() throws {
        let proxy = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 Made\r\n\r\n")
            // From here on it is the backend.
            try HTTP2Peer(peer).serve()
        }
        defer { proxy.stop() }
        let driver = try PoolDriver(
            ConnectionOptions(
                origin: "http://backend.invalid:8080", proxy: ProxyAddress(proxy.origin), versions: .http2))
        #expect(driver.call()?.status == 200 && driver.call()?.status == 200)
        #expect(proxy.acceptedCount == 1 && driver.pool.sharedConnectionCount == 1)
        driver.pool.close()
    }

    @Test("A renewal closes idle connections, and lets calls under way finish")
    func renewal() throws {
        let identity = try TestCertificates.shared().good.withHTTP2
        let server = try ScriptedServer(tls: identity) { try HTTP2Peer($0).serve() }
        defer { server.stop() }
        let driver = try driver(server, .http2)
        #expect(driver.call()?.status == 200)
        driver.renew(tls: TLSFiles(caFile: try TestCertificates.shared().authorityFile))
        #expect(driver.pool.connectionCount == 0)
        #expect(driver.call()?.status == 200 && server.acceptedCount == 2)
        driver.pool.close()
    }
}

@Suite("Single requests over HTTP/2")
struct SingleRequestHTTP2Tests {
    private func request(_ server: ScriptedServer, _ versions: HTTPVersions) throws -> SingleRequest.Outcome {
        SingleRequest(
            .head, url: "\(server.origin)/x", authorization: nil, timeout: .seconds(20), proxy: nil,
            tls: TLSFiles(caFile: try TestCertificates.shared().authorityFile), versions: versions
        ).perform()
    }

    @Test("The answer says whether it came over HTTP/2", arguments: [HTTP2Wire.plain, .tls])
    func version(wire: HTTP2Wire) throws {
        let server = try wire.server { try $0.serve(status: 401) }
        defer { server.stop() }
        let outcome = try request(server, wire == .tls ? .agreed : .http2)
        #expect(outcome == .response(.init(status: 401, isHTTP2: true)))
    }

    @Test("HTTP/2 that is demanded and refused gives no answer")
    func demanded() throws {
        let server = try ScriptedServer(tls: try TestCertificates.shared().good) { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
        }
        defer { server.stop() }
        guard case .failure(.connectFailed, let detail) = try request(server, .http2) else {
            Issue.record("an answer")
            return
        }
        #expect(detail.contains("HTTP/2"))
    }
}
