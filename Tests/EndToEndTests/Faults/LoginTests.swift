import Foundation
import HeraldThreads
import TestSupport
import Testing

@Suite("Logging in to the brokers", .ownKafka("Logging in to the brokers"))
struct LoginTests {
    /// A token endpoint whose tokens are valid for some seconds, and which can be closed.
    private final class Realm: Sendable {
        private struct State {
            var given = 0
            var isOpen: Bool
        }

        private let state: Guarded<State>
        private let endpoint: ScriptedServer

        init(lifetimeSeconds: Int, isOpen: Bool) throws {
            let state = Guarded(State(isOpen: isOpen))
            self.state = state
            endpoint = try ScriptedServer { peer in
                _ = try peer.readRequest()
                let isOpen = state.withLock { state in
                    if state.isOpen { state.given += 1 }
                    return state.isOpen
                }
                let token = Self.token(lifetimeSeconds: lifetimeSeconds)
                let body =
                    isOpen
                    ? #"{"access_token":"\#(token)","token_type":"Bearer","expires_in":\#(lifetimeSeconds)}"#
                    : #"{"error":"invalid_client","error_description":"no such client"}"#
                try peer.write(
                    "HTTP/1.1 \(isOpen ? 200 : 401) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }

        var url: String { endpoint.origin + "/token" }
        var givenCount: Int { state.withLock { $0.given } }

        func open() { state.withLock { $0.isOpen = true } }
        func stop() { endpoint.stop() }

        /// A JSON Web Token without a signature (RFC 7519 §6), accepted by brokers without keys.
        private static func token(lifetimeSeconds: Int) -> String {
            let now = Int(Date().timeIntervalSince1970)
            let claims = #"{"sub":"\#(SecuredUser.bearer.rawValue)","iat":\#(now),"exp":\#(now + lifetimeSeconds)}"#
            return [#"{"alg":"none"}"#, claims].map { part in
                Data(part.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: "")
            }.joined(separator: ".") + "."
        }
    }

    private static func run(_ body: (Fixture, RealKafka) async throws -> Void) async throws {
        var plan = Fixture.Plan()
        plan.cluster = .secured
        try await Fixture.run(plan) { fixture in try await body(fixture, fixture.kafka) }
    }

    private static func settings(_ servers: String?, _ login: [String: String]) throws -> [String: String] {
        let own = [
            "kafka.bootstrapServers": "[\"\(try #require(servers))\"]",
            "kafka.properties": "{ssl.ca.location: \(try TestCertificates.shared().authorityFile)}",
        ]
        return own.merging(login) { $1 }
    }

    @Test("A command without TLS on a TLS port gets a hint at TLS, and no question whether Kafka runs")
    func withoutTLS() async throws {
        try await Self.run { fixture, kafka in
            let servers = try #require(kafka.secureServers).split(separator: ",").map { "\"\($0)\"" }
            let run = try await fixture.tool(
                "topics", "check", changing: ["kafka.bootstrapServers": "[\(servers.joined(separator: ", "))]"])
            #expect(run.status == 5 && run.output.contains("check whether that port speaks TLS"), "\(run.output)")
        }
    }

    @Test("Readiness names a wrong password; the right one in its file lets the worker in without a restart")
    func passwordRotated() async throws {
        try await Self.run { fixture, kafka in
            let file = fixture.directory.appending(path: "password")
            try "wrong-canary\n".write(to: file, atomically: true, encoding: .utf8)
            let worker = try fixture.spawnWorker(
                changing: Self.settings(
                    kafka.secureServers,
                    [
                        "kafka.auth.kind": "plain", "kafka.auth.username": SecuredUser.owner.rawValue,
                        "kafka.auth.passwordFile": file.path,
                    ]))
            try await worker.waitUntilNotReady("login-failed", naming: "kafka.auth")
            try await worker.waitForLog("Herald cannot log in to the brokers")
            try "\(SecuredUser.owner.password)\n".write(to: file, atomically: true, encoding: .utf8)
            try await worker.waitForLog("partitions assigned")
            try await worker.waitUntilReady()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
            #expect(!worker.output.contains("canary"))
        }
    }

    @Test("Tokens are renewed before they end, connections that end with them are replaced, nothing is lost")
    func tokensRenewed() async throws {
        let realm = try Realm(lifetimeSeconds: 8, isOpen: false)
        defer { realm.stop() }
        try await Self.run { fixture, kafka in
            let file = fixture.directory.appending(path: "secret")
            try "secret-canary\n".write(to: file, atomically: true, encoding: .utf8)
            let worker = try fixture.spawnWorker(
                changing: Self.settings(
                    kafka.secureServers,
                    [
                        "kafka.auth.kind": "oauthbearer", "kafka.auth.tokenURL": realm.url,
                        "kafka.auth.clientID": "herald", "kafka.auth.clientSecretFile": file.path,
                    ]))
            try await worker.waitUntilNotReady("login-failed", naming: "check kafka.auth.clientID")
            realm.open()
            try await worker.waitForLog("partitions assigned")
            var published = 0
            while realm.givenCount < 4 {
                try await fixture.publish(Batch.events(published..<published + 20))
                published += 20
                try await fixture.waitForResults(published)
            }
            try await Oracle(fixture).expectResults(Batch.delivered(0..<published))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty)
            #expect(!worker.output.contains("canary"))
        }
    }

    @Test("A client certificate logs in")
    func certificate() async throws {
        let certificates = try TestCertificates.shared()
        try await Self.run { fixture, kafka in
            _ = try await fixture.startWorker(
                changing: Self.settings(
                    kafka.certifiedServers,
                    [
                        "kafka.auth.kind": "certificate",
                        "kafka.auth.certificateFile": certificates.client.certificateFile,
                        "kafka.auth.keyFile": certificates.client.keyFile,
                    ]))
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(20)
        }
    }
}
