public import HeraldEvents

extension OutageReason {
    /// What happened and what to do, in one sentence: the same in the log and in readiness.
    ///
    /// - Parameter status: of the dead-letter breaker: the status that would have made too many dead letters; of the breaker: the latest
    ///   that failed, 0 without an answer.
    public func sentence(status: Int) -> String {
        switch self {
        case .credentials:
            "The backend refuses the credentials (401 or 403): check backend.auth, or the hub's connection string."
        case .tokenUnavailable:
            "The token endpoint gives no token: check backend.auth.tokenURL, clientID and the client's secret."
        case .tls: "TLS to the backend failed: check its certificate and backend.tls."
        case .proxyRefused:
            "The proxy refuses the credentials for it (407): check backend.proxy and backend.proxyPasswordFile."
        case .nameNotFound:
            "The backend's name has no address: check backend.url, or the hub's connection string, and the resolver."
        case .breaker:
            status == 0
                ? "Most calls to the backend get no answer: check that it runs, and backend.url or the hub's connection "
                    + "string."
                : "Most calls to the backend fail for now, the latest with status \(status): check the backend."
        case .hubNotFound:
            "The namespace has no hub of that name (404): check backend.hub.name and the connection string."
        case .quotaUsedUp:
            "The hub's quota of notifications is used up (403): wait for its next period, or choose a larger tier."
        case .deadLetterBreaker:
            "The backend rejects most users' events with status \(status): \(Self.remedy(rejectedWith: status))"
        }
    }

    private static func remedy(rejectedWith status: Int) -> String {
        switch status {
        case 300..<400, 404, 405, 410:
            "check backend.url and backend.path; herald dlq replay brings back what was rejected."
        case 401, 403: "check the rights of backend.auth's user."
        case 413: "look at what publishes events that are too large for it."
        case 429: "it is asked too often: check limits and backend.statuses."
        default: "check backend.path and the backend's version, and look at what publishes such events."
        }
    }
}
