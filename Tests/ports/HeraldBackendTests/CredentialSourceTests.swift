import Foundation
import HeraldHTTP
import HeraldText
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldBackend

@Suite("The process's credentials")
struct CredentialSourceTests {
    private func configuration(_ credentials: Credentials, tls: TLSFiles = TLSFiles()) throws -> BackendConfiguration {
        try BackendConfiguration(url: "http://127.0.0.1:1", tls: tls, credentials: credentials)
    }

    private func file(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "herald-\(UUID().uuidString)")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file
    }

    @Test("Fixed credentials are available at once, and a renewal of them ends at once")
    func fixed() throws {
        let source = try CredentialSource(configuration(.basic(username: "alice", password: Secret("alice"))))
        try source.start()
        let heard = Heard(source)
        #expect(heard.authorizations == ["Basic YWxpY2U6YWxpY2U="])
        heard.renew(refused: 0)
        #expect(heard.renewedCount == 1 && heard.revision == 0)
    }

    @Test("Without a descriptor for its loop a source ends renewals at once, and no caller waits for ever")
    func noLoop() throws {
        struct NoDescriptor: Error {}
        let source = try CredentialSource(
            configuration(.basic(username: "alice", password: Secret("alice"))).kept,
            readAgain: { throw NoDescriptor() }, report: { _ in }, makeLoop: { throw NoDescriptor() })
        let isEnded = DispatchSemaphore(value: 0)
        source.renew(refused: 0) { isEnded.signal() }
        try source.start()
        isEnded.wait()
        let heard = Heard(source)
        heard.renew(refused: 0)
        #expect(heard.renewedCount == 1)
    }

    @Test("The token is fetched once for all users of it, as Azure AD and Keycloak are asked")
    func once() async throws {
        let endpoint = try TokenEndpoint()
        defer { endpoint.stop() }
        let source = try CredentialSource(configuration(endpoint.client()))
        let early = (0..<20).map { _ in Heard(source) }
        try source.start()
        source.waitUntilSettled()
        let late = (0..<20).map { _ in Heard(source) }
        #expect((early + late).allSatisfy { $0.authorizations == ["Bearer token-0"] })
        #expect(endpoint.requests.count == 1)
        let request = try #require(endpoint.requests.first)
        #expect(request.hasPrefix("POST /oauth2/token?tenant=7 HTTP/1.1\r\n"))
        #expect(request.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"))
        #expect(request.contains("\r\nAccept: application/json\r\n"))
        #expect(!request.contains("Expect:") && !request.contains("Authorization:"))
        #expect(
            request.hasSuffix(
                "\r\n\r\ngrant_type=client_credentials&scope=api%3A%2F%2Fbackend%2F.default"
                    + "&client_id=herald&client_secret=canary"))
        source.close()
    }

    @Test("Many refusals of a token cause one renewal; a later refusal of the old one gets the new one")
    func oneRenewal() async throws {
        let asking = Guarded<Heard?>(nil)
        let endpoint = try TokenEndpoint { number in
            // During the fetch of the new token, others are refused with the old one.
            if number == 1, let heard = asking.withLock({ $0 }) {
                for _ in 1...50 { heard.renew(refused: heard.revision) }
            }
            return TokenEndpoint.token(number)
        }
        defer { endpoint.stop() }
        let source = try CredentialSource(configuration(endpoint.client()))
        try source.start()
        source.waitUntilSettled()
        let heard = Heard(source)
        asking.withLock { $0 = heard }
        let revision = heard.revision
        // A token that is refused at once is renewed at the earliest time: 10 s later.
        for _ in 1...50 { heard.renew(refused: revision) }
        #expect(try await eventually(within: 120) { heard.renewedCount == 100 })
        #expect(heard.authorizations == ["Bearer token-0", "Bearer token-1"])
        heard.renew(refused: revision)
        #expect(heard.renewedCount == 101)
        #expect(endpoint.requests.count == 2)
        source.close()
    }

    @Test("A token is renewed before its end")
    func ahead() async throws {
        let endpoint = try TokenEndpoint { TokenEndpoint.token($0, lifetime: $0 == 0 ? 4 : 3_600) }
        defer { endpoint.stop() }
        let source = try CredentialSource(configuration(endpoint.client()))
        try source.start()
        let heard = Heard(source)
        #expect(try await eventually(within: 60) { heard.authorizations == ["Bearer token-0", "Bearer token-1"] })
        #expect(heard.troubles.isEmpty)
        source.close()
    }

    @Test("A missing token is reported with the reason, and comes by itself when the endpoint works again")
    func downAndUp() async throws {
        let endpoint = try TokenEndpoint { number in
            number < 2
                ? FakeBackend.answer(401, #"{"error":"invalid_client","error_description":"canary is wrong"}"#)
                : TokenEndpoint.token(number)
        }
        defer { endpoint.stop() }
        let source = try CredentialSource(configuration(endpoint.client()))
        try source.start()
        source.waitUntilSettled()
        let heard = Heard(source)
        #expect(source.access == nil && !heard.troubles.isEmpty)
        #expect(heard.troubles.allSatisfy { $0.description.contains("invalid_client: *** is wrong") })
        // Requests for it do not accelerate anything.
        for _ in 1...100 { heard.renew(refused: 0) }
        #expect(try await eventually(within: 60) { heard.authorizations == ["Bearer token-2"] })
        #expect(endpoint.requests.count == 3)
        source.close()
    }

    @Test("A token that ends without a successor is no longer used")
    func ends() async throws {
        let endpoint = try TokenEndpoint { $0 == 0 ? TokenEndpoint.token(0, lifetime: 3) : nil }
        defer { endpoint.stop() }
        let notices = Guarded<[AccessNotice]>([])
        let source = try CredentialSource(
            configuration(endpoint.client()), report: { notice in notices.withLock { $0.append(notice) } })
        try source.start()
        let heard = Heard(source)
        #expect(try await eventually(within: 60) { heard.troubles.first?.isUnreachable == true })
        #expect(source.access == nil && heard.authorizations == ["Bearer token-0"])
        #expect(notices.withLock { $0 }.allSatisfy { $0.isTrouble && !$0.sentence(of: .backend).contains("canary") })
        source.close()
    }

    @Test("A client's secret that changes in its file is used at once")
    func secretFile() async throws {
        let endpoint = try TokenEndpoint { number in
            number == 0 ? FakeBackend.answer(401, #"{"error":"invalid_client"}"#) : TokenEndpoint.token(number)
        }
        defer { endpoint.stop() }
        let secret = Guarded("wrong")
        let read: @Sendable () throws -> BackendConfiguration = {
            try BackendConfiguration(
                url: "http://127.0.0.1:1", credentials: endpoint.client(secret: secret.withLock { $0 }))
        }
        let source = try CredentialSource(read(), readAgain: read)
        try source.start()
        source.waitUntilSettled()
        secret.withLock { $0 = "right" }
        let heard = Heard(source)
        heard.renew(refused: .max)
        #expect(try await eventually { heard.authorizations == ["Bearer token-1"] })
        #expect(endpoint.requests.last?.hasSuffix("client_secret=right") == true)
        source.close()
    }

    @Test("A password that changes in its file is published, and an unreadable file changes nothing")
    func passwordFile() async throws {
        struct Unreadable: Error {}
        let password = Guarded<String?>("one")
        let configuration: @Sendable () throws -> BackendConfiguration = {
            guard let text = password.withLock({ $0 }) else { throw Unreadable() }
            return try BackendConfiguration(url: "http://127.0.0.1:1", credentials: .bearer(token: Secret(text)))
        }
        let notices = Guarded<[AccessNotice]>([])
        let source = try CredentialSource(configuration(), readAgain: configuration) { notice in
            notices.withLock { $0.append(notice) }
        }
        try source.start()
        let heard = Heard(source)
        password.withLock { $0 = nil }
        for count in 1...3 {
            heard.renew(refused: 0)
            #expect(try await eventually { heard.renewedCount == count })
        }
        #expect(heard.authorizations == ["Bearer one"])
        #expect(notices.withLock { $0 } == [.unreadable("Unreadable()")])
        password.withLock { $0 = "two" }
        // Without a request: the file is checked periodically.
        #expect(try await eventually { heard.authorizations == ["Bearer one", "Bearer two"] })
        #expect(heard.revision == 1 && heard.filesRevision == 0)
        #expect(notices.withLock { $0.last } == .credentialsChanged)
        source.close()
    }

    @Test("Changed TLS files are noticed, a temporarily missing one is not")
    func tlsFiles() async throws {
        let authorities = try file("one")
        defer { try? FileManager.default.removeItem(at: authorities) }
        let notices = Guarded<[AccessNotice]>([])
        let source = try CredentialSource(
            configuration(.none, tls: TLSFiles(caFile: authorities.path)),
            report: { notice in notices.withLock { $0.append(notice) } })
        try source.start()
        let heard = Heard(source)
        #expect(heard.filesRevision == 0)
        try FileManager.default.removeItem(at: authorities)
        #expect(
            try await eventually { notices.withLock { $0.contains { $0.isTrouble && $0 != .filesChanged } } })
        try "two".write(to: authorities, atomically: true, encoding: .utf8)
        #expect(try await eventually { heard.filesRevision == 1 })
        #expect(heard.revision == 0 && notices.withLock { $0.last } == .filesChanged)
        source.close()
    }

    @Test("Neither a source nor its credentials show a secret")
    func secrets() throws {
        let client = ClientCredentials(tokenURL: "https://h/t", clientID: "id", clientSecret: Secret("canary"))
        let proxy = ProxyAddress("http://alice:canary@proxy:3128")
        let configuration = try BackendConfiguration(url: "https://b", proxy: proxy, credentials: .oauth2(client))
        let source = try CredentialSource(
            BackendConfiguration(url: "https://b", credentials: .bearer(token: Secret("canary"))))
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(source.access, to: &dumped)
        dump(source, to: &dumped)
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("canary") && !"\(configuration) \(proxy) \(client)".contains("canary"))
        #expect(proxy.url == "http://proxy:3128" && proxy.username == "alice")
    }
}
