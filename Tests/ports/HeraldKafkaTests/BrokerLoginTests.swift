import Foundation
import HeraldText
import TestSupport
import Testing

@testable import HeraldKafka

@Suite("A login that all clients of a process share", .realTime)
struct BrokerLoginTests {
    private static func token(of name: String, endsInSeconds seconds: Int) -> BrokerLogin.Credential {
        let end = Int64(Date().timeIntervalSince1970 * 1_000) + Int64(seconds) * 1_000
        return .token(
            LoginToken(
                value: Secret("e30.e30."), endsAtMilliseconds: end, principal: name,
                extensions: ["logicalCluster": "lkc-1"]))
    }

    private static func client(_ login: BrokerLogin, mechanism: String = "OAUTHBEARER") throws -> Admin {
        try Admin(
            properties: ClientProperties(
                [
                    ("bootstrap.servers", "127.0.0.1:1"), ("security.protocol", "sasl_plaintext"),
                    ("sasl.mechanism", mechanism),
                ], login: login))
    }

    /// The client's notices about tokens since the last call.
    private static func complaints(of client: Admin) -> [String] {
        client.takeNotices().notices.compactMap { $0.error?.kind == .noToken ? $0.text : nil }
    }

    @Test("A pending token causes no notice; a missing one makes every client report the reason")
    func tokens() async throws {
        let login = BrokerLogin(usesTokens: true, .pending)
        let clients = [try Self.client(login), try Self.client(login)]
        login.update(.unavailable("the endpoint is closed"))
        for client in clients {
            var said: [String] = []
            let hasSaid = try await eventually {
                said += Self.complaints(of: client)
                return !said.isEmpty
            }
            #expect(hasSaid && said.allSatisfy { $0.contains("the endpoint is closed") }, "\(said)")
        }
        login.update(Self.token(of: "herald", endsInSeconds: 60))
        for client in clients { #expect(Self.complaints(of: client) == []) }
    }

    @Test("An expired token is refused in words")
    func endedToken() async throws {
        let login = BrokerLogin(usesTokens: true, Self.token(of: "herald", endsInSeconds: -60))
        let client = try Self.client(login)
        #expect(try await eventually { Self.complaints(of: client).contains { $0.contains("unexpired") } })
    }

    @Test("An unavailable password makes no client, and the error has the reason")
    func noPassword() {
        let login = BrokerLogin(usesTokens: false, .unavailable("the file is gone"))
        let error = #expect(throws: KafkaError.self) { try Self.client(login, mechanism: "PLAIN") }
        #expect(error?.message == "the file is gone" && error?.kind == .refusedCredentials)
    }

    @Test("A new password reaches live clients, and clients may end in any order")
    func passwords() throws {
        let login = BrokerLogin(usesTokens: false, .password(username: "ann", Secret("one")))
        var clients = [try Self.client(login, mechanism: "PLAIN"), try Self.client(login, mechanism: "PLAIN")]
        #expect(login.username == "ann")
        clients.removeFirst()
        login.update(.password(username: "bob", Secret("two")))
        #expect(login.username == "bob")
        login.report("changed", isTrouble: true)
        #expect(clients[0].takeNotices().notices.contains { $0.text == "changed" && $0.level == 4 })
        clients.removeAll()
        login.update(.password(username: "carol", Secret("three")))
    }
}
