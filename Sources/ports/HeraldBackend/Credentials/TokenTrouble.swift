public import HeraldHTTP
import HeraldTime

/// The reason why there is no access token.
public enum TokenTrouble: Sendable, Hashable, CustomStringConvertible {
    /// The token endpoint could not be asked.
    case unreachable(FailureKind, String)
    /// It said no; `error` is its word for it (RFC 6749 §5.2).
    case refused(status: Int, error: String?, detail: String?, retryAfterSeconds: Int64)
    /// It said yes, and gave no token that can be used.
    case noToken(String)

    /// The failure and the remedy, in one sentence without secrets, for the backend's token.
    public var description: String { sentence(of: .backend) }

    /// The same sentence for the token's owner.
    public func sentence(of owner: CredentialConfiguration.Owner) -> String {
        switch self {
        case .unreachable(let kind, let detail):
            "the token endpoint can't be reached (\(detail)): check \(Self.settings(for: kind, owner))"
        case .refused(let status, let error, let detail, _):
            "the token endpoint answered \(status)\(detail.map { " (\($0))" } ?? ""): "
                + Self.advice(status: status, error: error, of: owner)
        case .noToken(let reason):
            "the token endpoint gave no Bearer token (\(reason)): check \(owner.section).tokenURL"
        }
    }

    /// Whether the endpoint could not be asked at all.
    public var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }

    var retryAfter: Milliseconds? {
        guard case .refused(_, _, _, let seconds) = self, seconds > 0 else { return nil }
        return min(.seconds(seconds), .days(1))
    }

    private static func settings(for kind: FailureKind, _ owner: CredentialConfiguration.Owner) -> String {
        switch kind {
        case .nameNotFound: "the host in \(owner.section).tokenURL and the resolver"
        case .tls where owner == .backend: "its certificate, backend.auth.caFile and backend.tls.caFile"
        case .tls: "its certificate and \(owner.section).caFile"
        case .proxyRefused: "the user and password in backend.proxy and backend.proxyPasswordFile"
        case .connectionRefused, .connectionReset, .timeout, .brokenHTTP, .connectFailed:
            "\(owner.section).tokenURL, the network and whether the endpoint runs"
        }
    }

    private static func advice(
        status: Int, error: String?, of owner: CredentialConfiguration.Owner
    ) -> String {
        let section = owner.section
        return switch (error, status) {
        case ("invalid_client", _), (nil, 401), (nil, 403):
            "check \(section).clientID, \(owner.secretSetting) and clientAuthentication"
        case ("invalid_scope", _): "check \(section).scope"
        case ("unauthorized_client", _), ("unsupported_grant_type", _), ("access_denied", _):
            "allow the client credentials grant for this client there"
        case (_, 300..<400): "redirects are not followed, check \(section).tokenURL"
        case (_, 429), (_, 500...): "Herald asks again by itself"
        default: "check \(section).tokenURL, clientID and scope"
        }
    }
}
