package import HeraldHTTP
internal import HeraldText

/// A look at a backend that notifies nobody: GET, which by HTTP's rules changes nothing, on the path of notifications.
package struct BackendLook: Sendable {
    /// What came of a look with credentials.
    package enum Answer: Sendable, Equatable {
        case answer(HTTPLook.Answer)
        /// There is no access token, and the backend was not asked.
        case noToken(TokenTrouble)
    }

    private let configuration: BackendConfiguration

    /// A look at this backend.
    package init(_ configuration: BackendConfiguration) {
        self.configuration = configuration
    }

    /// Whether there are credentials to show.
    package var hasCredentials: Bool { configuration.credentials != .none }

    /// Looks as a stranger.
    ///
    /// Blocks.
    package func withoutCredentials(timeoutMilliseconds: Int) -> HTTPLook.Answer {
        look(authorization: nil, timeoutMilliseconds)
    }

    /// Looks as a worker would; a token is asked for before.
    ///
    /// Blocks, at most for the time-out twice.
    package func withCredentials(timeoutMilliseconds: Int) -> Answer {
        guard case .oauth2(let client) = configuration.credentials else {
            return .answer(look(authorization: configuration.credentials.authorization, timeoutMilliseconds))
        }
        let outcome = TokenRequest(client).perform(
            timeoutMilliseconds: timeoutMilliseconds, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls, isCancelled: { false })
        switch outcome {
        case .none(let trouble): return .noToken(trouble)
        case .token(let token, _):
            return .answer(look(authorization: "Bearer \(token.reveal())", timeoutMilliseconds))
        }
    }

    private func look(authorization: String?, _ timeoutMilliseconds: Int) -> HTTPLook.Answer {
        HTTPLook(
            url: configuration.address.origin + configuration.path, authorization: authorization,
            timeoutMilliseconds: timeoutMilliseconds, proxy: configuration.connections.proxy,
            tls: configuration.connections.tls
        ).perform()
    }
}
