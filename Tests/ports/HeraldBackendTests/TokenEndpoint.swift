import Dispatch
import HeraldBackend
import HeraldText
import HeraldThreads
import TestSupport

/// A token endpoint that answers each request as a test says, and remembers the requests.
final class TokenEndpoint: Sendable {
    private let seen: FakeBackend

    /// - Parameter answer: gets the request's number, from 0; `nil` hangs up.
    init(_ answer: @escaping @Sendable (_ number: Int) -> String?) throws {
        seen = try FakeBackend { _, number in answer(number) }
    }

    /// An endpoint whose tokens are numbered: `token-0`, `token-1`, ….
    convenience init(lifetime: Int = 3_600) throws {
        try self.init { Self.token($0, lifetime: lifetime) }
    }

    static func token(_ number: Int, lifetime: Int = 3_600) -> String {
        FakeBackend.answer(200, #"{"access_token":"token-\#(number)","token_type":"Bearer","expires_in":\#(lifetime)}"#)
    }

    var requests: [String] { seen.requests }
    var url: String { seen.origin + "/oauth2/token?tenant=7" }

    func stop() { seen.stop() }

    func client(secret: String = "canary") -> Credentials {
        .oauth2(
            ClientCredentials(
                tokenURL: url, clientID: "herald", clientSecret: Secret(secret), scope: "api://backend/.default"))
    }
}

/// The reports of a ``CredentialSource`` up to now.
final class Heard: Sendable {
    private let news = Guarded<[AccessNews]>([])
    private let renewals = Guarded(0)
    private let source: CredentialSource

    init(_ source: CredentialSource) {
        self.source = source
        source.listen { [news] fresh in news.withLock { $0.append(fresh) } }
    }

    /// The values of `Authorization` in the order in which they were published.
    var authorizations: [String] {
        news.withLock { $0 }.compactMap { news in
            if case .access(let access) = news { access.authorization?.reveal() } else { nil }
        }
    }

    var revision: Int {
        for case .access(let access) in news.withLock({ $0 }).reversed() { return access.revision }
        return -1
    }

    var filesRevision: Int {
        for case .access(let access) in news.withLock({ $0 }).reversed() { return access.filesRevision }
        return -1
    }

    var troubles: [TokenTrouble] {
        news.withLock { $0 }.compactMap { news in if case .unavailable(let trouble) = news { trouble } else { nil } }
    }

    /// The number of ended renewals that ``renew(refused:)`` had requested.
    var renewedCount: Int { renewals.withLock { $0 } }

    func renew(refused revision: Int) {
        source.renew(refused: revision) { [renewals] in renewals.withLock { $0 += 1 } }
    }
}
