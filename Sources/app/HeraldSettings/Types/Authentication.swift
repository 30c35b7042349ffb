/// How Herald authenticates to the backend, `backend.auth.*` in the form of its kind.
package enum Authentication: Sendable {
    case none
    case basic(username: String, password: SecretSource)
    case bearer(token: SecretSource)
    case oauth2(OAuth2)

    /// What kind `oauth2` needs.
    package struct OAuth2: Sendable {
        /// The token endpoint.
        package let tokenURL: String
        package let clientID: String
        package let clientSecret: SecretSource
        /// What the token is for.
        package let scope: String?
        /// Where id and secret stand in a request.
        package let clientAuthentication: ClientAuthentication
        /// The authorities to trust; nil for the backend's.
        package let caFile: String?
    }
}

extension SettingsSection<SettingsTable.Backend> {
    /// How to authenticate; nil when what its kind needs is not set.
    package var authentication: Authentication? {
        switch auth.kind {
        case .none: return Authentication.none
        case .basic:
            guard let username = auth.username, let password = values.secret(.password) else { return nil }
            return .basic(username: username, password: password)
        case .bearer: return values.secret(.token).map { .bearer(token: $0) }
        case .oauth2:
            guard let tokenURL = auth.tokenURL, let clientID = auth.clientID,
                let clientSecret = values.secret(.clientSecret)
            else { return nil }
            return .oauth2(
                Authentication.OAuth2(
                    tokenURL: tokenURL, clientID: clientID, clientSecret: clientSecret, scope: auth.scope,
                    clientAuthentication: auth.clientAuthentication, caFile: auth.caFile))
        }
    }

    private var auth: SettingsSection<SettingsTable.Backend.Authentication> { self[dynamicMember: \.auth] }
}

extension SettingsSection<SettingsTable.Admin> {
    /// Where the token comes from that callers show off loopback; nil when there is none.
    package var tokenSource: SecretSource? { values.secret(.adminToken) }
}
