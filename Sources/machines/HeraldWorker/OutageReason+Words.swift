package import HeraldEvents
package import HeraldTime

extension OutageReason {
    /// The cause and the remedy: the same in the log, in readiness and on the console.
    ///
    /// - Parameter status: of the dead-letter breaker: the status that would have made too many dead letters; of the breaker: the latest
    ///   that failed, 0 without an answer.
    package func finding(status: Int, since: WallTime? = nil) -> Finding {
        let backend = ["herald", "doctor", "--only", "backend"]
        let send = ["herald", "send", "--self"]
        func outage(_ what: String, _ step: String, _ command: [String] = []) -> Finding {
            Finding(outage: word, what, since: since, step: step, command: command)
        }
        return switch self {
        case .credentials:
            outage(
                "the backend refuses the credentials (401 or 403)",
                "check backend.auth, or the hub's connection string", send)
        case .tokenUnavailable:
            outage(
                "the token endpoint gives no token", "check backend.auth.tokenURL, clientID and the client's secret",
                send)
        case .tls: outage("TLS to the backend failed", "check its certificate and backend.tls", backend)
        case .proxyRefused:
            outage(
                "the proxy refuses the credentials for it (407)",
                "check backend.proxy and backend.proxyPasswordFile", backend)
        case .nameNotFound:
            outage(
                "the backend's name has no address",
                "check backend.url, or the hub's connection string, and the resolver", backend)
        case .breaker where status == 0:
            outage(
                "most calls to the backend get no answer",
                "check that it runs, and backend.url or the hub's connection string", send)
        case .breaker:
            outage(
                "most calls to the backend fail for now, the latest with status \(status)", "check the backend", send)
        case .target(let own): outage(own.what, own.step, own.command)
        case .deadLetterBreaker:
            outage(
                "the backend rejects most users' events with status \(status)", Self.remedy(rejectedWith: status),
                ["herald", "dlq", "list", "--since", "1h", "--group-by", "status"])
        }
    }

    private static func remedy(rejectedWith status: Int) -> String {
        switch status {
        case 300..<400, 404, 405, 410:
            "check backend.url and backend.path; herald dlq replay brings back what was rejected"
        case 401, 403: "check the rights of backend.auth's user"
        case 413: "look at what publishes events that are too large for it"
        case 429: "it is asked too often; check limits and backend.statuses"
        default: "check backend.path and the backend's version, and look at what publishes such events"
        }
    }
}
