public import HeraldCore

extension HoldReason {
    /// The word for it in logs, metrics and readiness.
    public var word: String {
        switch self {
        case .credentials: "credentials"
        case .tokenUnavailable: "token-unavailable"
        case .tls: "tls"
        case .nameNotFound: "name-not-found"
        case .proxyRefused: "proxy-refused"
        case .breaker: "breaker"
        case .fuse: "fuse"
        }
    }

    /// What happened and what to do, in one sentence: the same in the log and in readiness.
    ///
    /// - Parameter status: of the fuse: the status that would have made too many dead letters.
    public func sentence(status: Int) -> String {
        switch self {
        case .credentials: "The backend refuses the credentials (401 or 403): check backend.auth."
        case .tokenUnavailable:
            "The token endpoint gives no token: check backend.auth.tokenURL, clientID and the client's secret."
        case .tls: "TLS to the backend failed: check its certificate and backend.tls."
        case .proxyRefused:
            "The proxy refuses the credentials for it (407): check backend.proxy and backend.proxyPasswordFile."
        case .nameNotFound: "The backend's name has no address: check backend.url and the resolver."
        case .breaker:
            "Most calls to the backend fail for now (5xx, time-outs, refused connections): check the backend."
        case .fuse:
            "Most answers would make dead letters with status \(status): check backend.url and backend.path, or what "
                + "publishes such events."
        }
    }
}
