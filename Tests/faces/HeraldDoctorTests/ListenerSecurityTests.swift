import HeraldSandbox
import TestSupport
import Testing

@testable import HeraldDoctor

@Suite("TLS on a broker's port", .realTime)
struct ListenerSecurityTests {
    @Test("A handshake shows TLS, even with an untrusted certificate")
    func tls() async throws {
        let server = try ScriptedServer(tls: TestCertificates.shared().ofUnknownAuthority) { _ in }
        defer { server.stop() }
        let silent = try LoopbackSocket.unusedPort()
        let port = server.port
        let found = try await Blocking.run {
            ListenerSecurity.find(at: ["127.0.0.1:\(silent)", "SASL_SSL://127.0.0.1:\(port)"])
        }
        #expect(found == .tls)
    }

    @Test("A broker without TLS refuses the handshake, and an absent one leaves it unknown")
    func plaintext() async throws {
        let broker = try EmbeddedBroker(topics: [])
        let servers = broker.bootstrapServers.split(separator: ",").map(String.init)
        #expect(try await Blocking.run { ListenerSecurity.find(at: servers) } == .plaintext)
        let silent = try LoopbackSocket.unusedPort()
        #expect(try await Blocking.run { ListenerSecurity.find(at: ["127.0.0.1:\(silent)"]) } == nil)
    }
}
