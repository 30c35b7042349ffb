public import HeraldHTTP

/// Why there is no access token.
public enum TokenTrouble: Error, Sendable, Hashable, CustomStringConvertible {
    /// The token endpoint could not be asked.
    case unreachable(FailureKind, String)
    /// It said no; `error` is its word for it (RFC 6749 §5.2).
    case refused(status: Int, error: String?, detail: String?, retryAfterSeconds: Int64)
    /// It said yes, and gave no token that can be used.
    case noToken(String)

    /// What happened and what to do, in one sentence without secrets.
    public var description: String {
        switch self {
        case .unreachable(let kind, let detail):
            "the token endpoint can't be reached (\(detail)): check \(Self.settings(for: kind))"
        case .refused(let status, let error, let detail, _):
            "the token endpoint answered \(status)\(detail.map { " (\($0))" } ?? ""): "
                + Self.advice(status: status, error: error)
        case .noToken(let reason): "the token endpoint gave no Bearer token (\(reason)): check backend.auth.tokenURL"
        }
    }

    /// Whether the endpoint could not be asked at all.
    public var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }

    /// How long the endpoint asked to be left alone (milliseconds).
    var retryAfter: Int64? {
        guard case .refused(_, _, _, let seconds) = self, seconds > 0 else { return nil }
        return min(seconds, 86_400) * 1_000
    }

    private static func settings(for kind: FailureKind) -> String {
        switch kind {
        case .nameNotFound: "the host in backend.auth.tokenURL and the resolver"
        case .tls: "its certificate, backend.auth.caFile and backend.tls.caFile"
        case .proxyRefused: "the user and password in backend.proxy and backend.proxyPasswordFile"
        case .connectionRefused, .connectionReset, .timeout, .brokenHTTP, .connectFailed:
            "backend.auth.tokenURL, the network and whether the endpoint runs"
        }
    }

    private static func advice(status: Int, error: String?) -> String {
        switch (error, status) {
        case ("invalid_client", _), (nil, 401), (nil, 403):
            "check backend.auth.clientID, clientSecret and clientAuthentication"
        case ("invalid_scope", _): "check backend.auth.scope"
        case ("unauthorized_client", _), ("unsupported_grant_type", _), ("access_denied", _):
            "allow the client credentials grant for this client there"
        case (_, 300..<400): "redirects are not followed, check backend.auth.tokenURL"
        case (_, 429), (_, 500...): "Herald asks again by itself"
        default: "check backend.auth.tokenURL, clientID and scope"
        }
    }
}
