package import HeraldHTTP
internal import HeraldText

/// A probe of a backend that notifies nobody: GET, which by HTTP's rules changes nothing, on the path of notifications.
package struct BackendProbe: Sendable {
    /// What came of a probe with credentials.
    package enum Result: Sendable, Equatable {
        case outcome(SingleRequest.Outcome)
        /// There is no access token, and the backend was not asked.
        case noToken(TokenTrouble)
    }

    private let configuration: BackendConfiguration

    /// A probe of this backend.
    package init(_ configuration: BackendConfiguration) {
        self.configuration = configuration
    }

    /// Whether there are credentials to show.
    package var hasCredentials: Bool { configuration.credentials != .none }

    /// Probes as a stranger.
    ///
    /// Blocks.
    package func withoutCredentials(timeoutMilliseconds: Int) -> SingleRequest.Outcome {
        probe(authorization: nil, timeoutMilliseconds)
    }

    /// Probes as a worker would; a token is fetched before.
    ///
    /// Blocks, at most for the time-out twice.
    package func withCredentials(timeoutMilliseconds: Int) -> Result {
        guard case .oauth2(let client) = configuration.credentials else {
            return .outcome(probe(authorization: configuration.credentials.authorization, timeoutMilliseconds))
        }
        let outcome = TokenRequest(client).perform(
            timeoutMilliseconds: timeoutMilliseconds, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls, versions: configuration.connections.versions, isCancelled: { false })
        switch outcome {
        case .none(let trouble): return .noToken(trouble)
        case .token(let token, _):
            return .outcome(probe(authorization: "Bearer \(token.reveal())", timeoutMilliseconds))
        }
    }

    private func probe(authorization: String?, _ timeoutMilliseconds: Int) -> SingleRequest.Outcome {
        SingleRequest(
            .head, url: configuration.address.origin + configuration.path, authorization: authorization,
            timeoutMilliseconds: timeoutMilliseconds, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls, versions: configuration.connections.versions
        ).perform()
    }
}
