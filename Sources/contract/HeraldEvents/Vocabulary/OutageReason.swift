/// Why nothing is consumed, by the word in logs, metrics and readiness.
public enum OutageReason: String, Sendable, CaseIterable {
    /// 401 or 403: the backend does not accept the credentials.
    case credentials
    /// There is no token to call with: the token endpoint gives none.
    case tokenUnavailable = "token-unavailable"
    /// TLS failed or the other side is not the right server.
    case tls
    /// The backend's name has no address.
    case nameNotFound = "name-not-found"
    /// The proxy does not accept the credentials for it.
    case proxyRefused = "proxy-refused"
    /// Circuit breaker: too many calls failed for now.
    case breaker
    /// The hub that the settings name does not exist.
    case hubNotFound = "hub-not-found"
    /// The hub's quota of notifications is used up.
    case quotaUsedUp = "quota-used-up"
    /// Dead-letter breaker: too many answers would make dead letters with the same status.
    case deadLetterBreaker = "dead-letter-breaker"
}

extension OutageReason {
    /// Whether no call reaches the backend.
    public var isBeyondReach: Bool {
        switch self {
        case .tls, .nameNotFound, .proxyRefused: true
        case .credentials, .tokenUnavailable, .breaker, .hubNotFound, .quotaUsedUp, .deadLetterBreaker: false
        }
    }
}
