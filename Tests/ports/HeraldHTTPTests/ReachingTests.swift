import HeraldHTTP
import TestSupport
import Testing

private let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

@Suite("TLS and proxies")
struct ReachingTests {
    /// A server certificate that must be refused.
    enum BadCertificate: String, CaseIterable {
        case wrongHost
        case expired
        case unknownAuthority
    }

    @Test(
        "An invalid certificate is refused before a byte of the request is sent",
        arguments: BadCertificate.allCases)
    func badCertificates(bad: BadCertificate) throws {
        let certificates = try TestCertificates.shared()
        let (identity, word) =
            switch bad {
            case .wrongHost: (certificates.wrongHost, "127.0.0.1")
            case .expired: (certificates.expired, "expired")
            case .unknownAuthority: (certificates.ofUnknownAuthority, "issuer")
            }
        let server = try ScriptedServer(tls: identity) { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
        }
        defer { server.stop() }
        let tls = TLSFiles(caFile: certificates.authorityFile)
        let ended = try PoolDriver(ConnectionOptions(origin: server.origin, tls: tls)).call()
        #expect(ended?.failure == .tls)
        #expect(ended?.body.contains(word) == true, "\(ended?.body ?? "")")
    }

    @Test("Without a file of authorities the system's are trusted, and no others")
    func systemAuthorities() throws {
        let server = try ScriptedServer(tls: TestCertificates.shared().good) { _ in }
        defer { server.stop() }
        #expect(try PoolDriver(origin: server.origin).call()?.failure == .tls)
    }

    @Test("A missing file of authorities is a TLS failure")
    func missingAuthorities() throws {
        let server = try ScriptedServer(tls: TestCertificates.shared().good) { _ in }
        defer { server.stop() }
        let tls = TLSFiles(caFile: "/nowhere/authorities.pem")
        #expect(try PoolDriver(ConnectionOptions(origin: server.origin, tls: tls)).call()?.failure == .tls)
    }

    @Test("A server without TLS is a TLS failure")
    func plainServer() throws {
        let server = try ScriptedServer { peer in try peer.write("HTTP/1.1 400 Bad Request\r\n\r\n") }
        defer { server.stop() }
        let ended = try PoolDriver(origin: "https://127.0.0.1:\(server.port)").call()
        #expect(ended?.failure == .tls)
    }

    @Test(
        "A client certificate is sent when there is one, and a TLS failure when it is refused",
        arguments: [true, false])
    func clientCertificate(isShown: Bool) throws {
        let certificates = try TestCertificates.shared()
        var identity = certificates.good
        identity.clientAuthorityFile = certificates.authorityFile
        let server = try ScriptedServer(tls: identity) { peer in
            while true {
                _ = try peer.readRequest()
                try peer.write(okay)
            }
        }
        defer { server.stop() }
        var tls = TLSFiles(caFile: certificates.authorityFile)
        if isShown {
            tls.certificateFile = certificates.client.certificateFile
            tls.keyFile = certificates.client.keyFile
        }
        let driver = try PoolDriver(ConnectionOptions(origin: server.origin, tls: tls))
        for _ in 1...3 {
            let ended = driver.call()
            #expect(ended?.failure == (isShown ? nil : .tls), "\(ended?.body ?? "")")
            #expect(ended?.status == (isShown ? 200 : 0))
        }
        driver.pool.close()
    }

    @Test("A proxy is asked for a tunnel, even to a plain backend, and sees the request as the backend does")
    func proxy() throws {
        let proxy = try ScriptedServer { peer in
            let connect = try peer.readRequest()
            let isRight = connect.hasPrefix("CONNECT backend.invalid:8080 HTTP/1.1\r\n")
            try peer.write("HTTP/1.1 \(isRight ? 200 : 400) Made\r\n\r\n")
            while true {
                let isSame = try peer.readRequest() == PoolDriver.request
                try peer.write("HTTP/1.1 \(isSame ? 200 : 400) OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { proxy.stop() }
        let driver = try PoolDriver(
            ConnectionOptions(origin: "http://backend.invalid:8080", proxy: ProxyAddress(proxy.origin)))
        #expect(driver.call()?.status == 200)
        #expect(driver.call()?.status == 200)
        #expect(proxy.acceptedCount == 1)
        driver.pool.close()
    }

    @Test("A proxy's refusal of a tunnel is no answer of the backend", arguments: [407, 502])
    func refusingProxy(status: Int) throws {
        let proxy = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
            peer.readToEnd()
        }
        defer { proxy.stop() }
        let driver = try PoolDriver(
            ConnectionOptions(origin: "http://backend.invalid:8080", proxy: ProxyAddress(proxy.origin)))
        let ended = driver.call()
        let kind = status == 407 ? FailureKind.proxyRefused : .connectFailed
        #expect(ended?.failure == kind && ended?.body.contains("\(status)") == true, "\(ended?.body ?? "")")
    }

    @Test("Connections beyond the capacity of one libcurl group are made too")
    func manyConnections() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            // All wait for the last one, so that no connection is free for a second call.
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin, limit: 150)
        for token in 1...150 { driver.begin(UInt64(token)) }
        #expect(driver.run { driver.pool.connectionCount == 150 && driver.pool.waitingCount == 0 })
        driver.pool.close()
    }
}
