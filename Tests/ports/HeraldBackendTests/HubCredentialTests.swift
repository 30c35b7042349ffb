import Foundation
import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldBackend

@Suite("A hub's token")
struct HubCredentialTests {
    private static func configuration(key: String) throws -> BackendConfiguration {
        let string = try HubConnectionString("Endpoint=sb://ns.example/;SharedAccessKeyName=n;SharedAccessKey=\(key)")
        return try BackendConfiguration(hub: HubSending(string, hub: "h", formats: ["apns": .apple]))
    }

    /// The tokens of a source, with the revision of each.
    private static func tokens(_ source: CredentialSource) -> Guarded<[SharedAccessSignature]> {
        let heard = Guarded<[SharedAccessSignature]>([])
        source.listen { news in
            guard case .access(let access) = news,
                let token = access.authorization.flatMap({ SharedAccessSignature(authorization: $0.reveal()) })
            else { return }
            heard.withLock { $0.append(token) }
        }
        return heard
    }

    @Test("It is signed once for all calls, for an hour, over the whole namespace")
    func once() throws {
        let source = try CredentialSource(Self.configuration(key: "first"))
        let lanes = [Self.tokens(source), Self.tokens(source)]
        try source.start()
        defer { source.close() }
        source.waitUntilSettled()
        let tokens = lanes.map { lane in lane.withLock { $0 } }
        #expect(tokens[0].count == 1 && tokens[0] == tokens[1])
        let token = try #require(tokens[0].first)
        #expect(token.isSigned(with: Secret("first")))
        #expect(token.encodedAudience == "https%3A%2F%2Fns.example%2F")
        let left = Double(token.expiresAt) - Date().timeIntervalSince1970
        #expect(left > 3_000 && left <= 3_601)
    }

    @Test("Another key in the file is used without a restart")
    func rotated() async throws {
        let key = Guarded("first")
        let notices = Guarded<[AccessNotice]>([])
        let source = try CredentialSource(
            Self.configuration(key: "first"),
            readAgain: { try Self.configuration(key: key.withLock { $0 }) },
            report: { notice in notices.withLock { $0.append(notice) } })
        let tokens = Self.tokens(source)
        try source.start()
        defer { source.close() }
        source.waitUntilSettled()
        key.withLock { $0 = "second" }
        let isRenewed = try await eventually(within: Patience.seconds) {
            tokens.withLock { $0.last?.isSigned(with: Secret("second")) == true }
        }
        #expect(isRenewed)
        #expect(notices.withLock { $0 } == [.credentialsChanged])
    }

    @Test("A refusal causes an immediate reading of the file")
    func refused() throws {
        let key = Guarded("first")
        let source = try CredentialSource(
            Self.configuration(key: "first"), readAgain: { try Self.configuration(key: key.withLock { $0 }) })
        let tokens = Self.tokens(source)
        try source.start()
        defer { source.close() }
        source.waitUntilSettled()
        key.withLock { $0 = "second" }
        let isEnded = DispatchSemaphore(value: 0)
        source.renew(refused: source.access?.revision ?? 0) { isEnded.signal() }
        isEnded.wait()
        #expect(tokens.withLock { $0.last?.isSigned(with: Secret("second")) == true })
    }

    @Test("A hub's echo never shows the signature")
    func hidden() throws {
        let authorization = try #require(Self.configuration(key: "first").credentials.authorization)
        let redaction = Redaction(authorization: authorization)
        let token = try #require(SharedAccessSignature(authorization: authorization))
        for text in [authorization, "sig was \(token.signature)", "bad: \(authorization.dropFirst(30))"] {
            let shown = redaction.hidingSecrets(in: text)
            #expect(!shown.contains(token.signature) && shown.contains("***"), "\(shown)")
        }
    }
}
