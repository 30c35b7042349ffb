import Dispatch
import Foundation
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldHTTP

private let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

@Suite("Changing TLS files, and proxies with credentials")
struct RenewalTests {
    /// A copy of a file that a test can replace.
    private func copy(of path: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "herald-\(UUID().uuidString)")
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: file, options: .atomic)
        return file
    }

    @Sendable
    private static func answerForEver(_ peer: ScriptedPeer) throws {
        while true {
            _ = try peer.readRequest()
            try peer.write(okay)
        }
    }

    @Test("Changed authorities are trusted, and the former ones no more, without a restart")
    func authorities() throws {
        let certificates = try TestCertificates.shared()
        let trusted = try copy(of: certificates.authorityFile)
        defer { try? FileManager.default.removeItem(at: trusted) }
        let good = try ScriptedServer(tls: certificates.good, script: Self.answerForEver)
        defer { good.stop() }
        let tls = TLSFiles(caFile: trusted.path)
        let driver = try PoolDriver(ConnectionOptions(origin: good.origin, tls: tls))
        #expect(driver.call()?.status == 200)
        try Data(contentsOf: URL(fileURLWithPath: certificates.otherAuthorityFile)).write(to: trusted, options: .atomic)
        // Before the report the connection stays, and so does libcurl's cache.
        #expect(driver.call()?.status == 200)
        driver.renew(tls: tls)
        #expect(driver.pool.connectionCount == 0)
        #expect(driver.call()?.failure == .tls)
        try Data(contentsOf: URL(fileURLWithPath: certificates.authorityFile)).write(to: trusted, options: .atomic)
        driver.renew(tls: tls)
        #expect(driver.call()?.status == 200)
        #expect(good.acceptedCount >= 2)
        driver.pool.close()
    }

    @Test("A call under way ends on its connection, which takes no other call afterwards")
    func midCall() throws {
        let certificates = try TestCertificates.shared()
        let mayAnswer = DispatchSemaphore(value: 0)
        let server = try ScriptedServer(tls: certificates.good) { peer in
            while true {
                if try peer.readRequest().hasPrefix("POST /slow") { mayAnswer.wait() }
                try peer.write(okay)
            }
        }
        defer { server.stop() }
        let tls = TLSFiles(caFile: certificates.authorityFile)
        let driver = try PoolDriver(ConnectionOptions(origin: server.origin, limit: 3, tls: tls))
        driver.begin(1, request: "POST /slow HTTP/1.1\r\n\r\n")
        #expect(driver.run { driver.pool.connectionCount == 1 && driver.pool.waitingCount == 0 })
        driver.renew(tls: tls)
        #expect(driver.pool.connectionCount == 1)
        driver.begin(2)
        #expect(driver.finish(1).map(\.token) == [2])
        mayAnswer.signal()
        #expect(driver.finish(1).map(\.status) == [200])
        #expect(driver.pool.connectionCount == 1 && server.acceptedCount == 2)
        driver.pool.close()
    }

    @Test("A connection being made is given up and made again with the new files")
    func midHandshake() throws {
        // The kernel accepts the connections; no handshake follows.
        let (listener, port) = try LoopbackSocket.listen()
        defer { close(listener) }
        let driver = try PoolDriver(ConnectionOptions(origin: "https://127.0.0.1:\(port)", limit: 2))
        for token in UInt64(1)...2 { driver.begin(token, milliseconds: 600) }
        for _ in 1...20 { driver.renew(tls: TLSFiles()) }
        #expect(driver.finish(2).allSatisfy { $0.failure == .timeout })
        #expect(driver.pool.connectionCount == 0 && driver.pool.callCount == 0)
    }

    @Test("A changed client certificate is sent from the next connection on")
    func clientCertificate() throws {
        let certificates = try TestCertificates.shared()
        var identity = certificates.good
        identity.clientAuthorityFile = certificates.authorityFile
        let server = try ScriptedServer(tls: identity, script: Self.answerForEver)
        defer { server.stop() }
        let certificate = try copy(of: certificates.ofUnknownAuthority.certificateFile)
        let key = try copy(of: certificates.ofUnknownAuthority.keyFile)
        defer {
            try? FileManager.default.removeItem(at: certificate)
            try? FileManager.default.removeItem(at: key)
        }
        let tls = TLSFiles(
            caFile: certificates.authorityFile, certificateFile: certificate.path, keyFile: key.path)
        let driver = try PoolDriver(ConnectionOptions(origin: server.origin, tls: tls))
        #expect(driver.call()?.failure == .tls)
        for (file, source) in [
            (certificate, certificates.client.certificateFile), (key, certificates.client.keyFile),
        ] {
            try Data(contentsOf: URL(fileURLWithPath: source)).write(to: file, options: .atomic)
        }
        driver.renew(tls: tls)
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }

    @Test("A proxy gets its user and password, percent-decoded, and the backend does not")
    func proxyCredentials() throws {
        let seen = Guarded<[String]>([])
        let proxy = try ScriptedServer { peer in
            let connect = try peer.readRequest()
            seen.withLock { $0.append(connect) }
            try peer.write("HTTP/1.1 200 Made\r\n\r\n")
            let request = try peer.readRequest()
            seen.withLock { $0.append(request) }
            try peer.write(okay)
            peer.readToEnd()
        }
        defer { proxy.stop() }
        let address = ProxyAddress("http://alice:s%3Acret%20%25@127.0.0.1:\(proxy.port)")
        let driver = try PoolDriver(ConnectionOptions(origin: "http://backend.invalid:8080", proxy: address))
        #expect(driver.call()?.status == 200)
        let requests = seen.withLock { $0 }
        // alice:s:cret %
        #expect(requests.first?.contains("\r\nProxy-Authorization: Basic YWxpY2U6czpjcmV0ICU=\r\n") == true)
        #expect(requests.last == PoolDriver.request)
        driver.pool.close()
    }

    @Test(
        "A proxy's address is split into its parts",
        arguments: [
            ("http://proxy:3128", "http://proxy:3128", nil, nil),
            ("http://alice@proxy:3128", "http://proxy:3128", "alice", ""),
            ("socks5h://a%40b:p@q:r@proxy:1080", "socks5h://proxy:1080", "a@b", "p@q:r"),
            ("https://:@proxy:1", "https://proxy:1", "", ""),
        ] as [(String, String, String?, String?)])
    func proxyAddresses(text: String, url: String, username: String?, password: String?) {
        let address = ProxyAddress(text)
        #expect(address.url == url && address.username == username)
        let parts = URLComponents(string: address.urlWithUser)
        #expect(parts?.user == username && parts?.password == password)
    }

    @Test("libcurl's error about an unusable address contains no password")
    func noPasswordInDetails() throws {
        let address = ProxyAddress("http://alice:canary@127.0.0.1:99999999")
        let driver = try PoolDriver(ConnectionOptions(origin: "http://backend.invalid:8080", proxy: address))
        let ended = try #require(driver.call())
        #expect(ended.failure != nil && !ended.body.contains("canary") && !ended.body.isEmpty, "\(ended.body)")
    }

    @Test(
        "The host of an origin",
        arguments: [
            ("http://backend:80", "backend"), ("https://[::1]:8443", "::1"), ("https://192.0.2.1", "192.0.2.1"),
        ])
    func hosts(origin: String, host: String) {
        #expect(ConnectionOptions(origin: origin).host == host)
    }
}
