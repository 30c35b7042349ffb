package import HeraldHTTP
internal import HeraldText
package import HeraldTime

/// A probe of a backend that notifies nobody: GET, which by HTTP's rules changes nothing, on the path of notifications.
package struct BackendProbe: Sendable {
    package enum Result: Sendable, Equatable {
        case outcome(SingleRequest.Outcome)
        /// There is no access token, and the backend was not asked.
        case noToken(TokenTrouble)
    }

    private let configuration: BackendConfiguration

    package init(_ configuration: BackendConfiguration) {
        self.configuration = configuration
    }

    package var hasCredentials: Bool { configuration.credentials != .none }

    /// Probes as a stranger.
    ///
    /// Blocks.
    package func withoutCredentials(timeout: Milliseconds) -> SingleRequest.Outcome {
        probe(authorization: nil, timeout)
    }

    /// Probes as a worker would; a token is fetched before.
    ///
    /// Blocks, at most for the time-out twice.
    package func withCredentials(timeout: Milliseconds) -> Result {
        guard case .oauth2(let client) = configuration.credentials else {
            return .outcome(probe(authorization: configuration.credentials.authorization, timeout))
        }
        let outcome = TokenRequest(client).perform(
            timeout: timeout, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls, versions: configuration.connections.versions, isCancelled: { false })
        switch outcome {
        case .none(let trouble): return .noToken(trouble)
        case .token(let token, _):
            return .outcome(probe(authorization: "Bearer \(token.reveal())", timeout))
        }
    }

    private func probe(authorization: String?, _ timeout: Milliseconds) -> SingleRequest.Outcome {
        SingleRequest(
            .head, url: configuration.address.origin + configuration.path, authorization: authorization,
            timeout: timeout, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls, versions: configuration.connections.versions
        ).perform()
    }
}
