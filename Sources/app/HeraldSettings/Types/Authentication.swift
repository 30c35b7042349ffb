package import HeraldBackend

/// Herald's authentication to the backend: `backend.auth.*` in the form of its kind.
package enum Authentication: Sendable {
    case none
    case basic(username: String, password: SecretSource)
    case bearer(token: SecretSource)
    case oauth2(OAuth2)

    /// The parameters of kind `oauth2`, and of the brokers' kind `oauthbearer`.
    package struct OAuth2: Sendable, Hashable {
        package let tokenURL: String
        package let clientID: String
        package let clientSecret: SecretSource
        package let scope: String?
        /// The place of id and secret in a request.
        package let clientAuthentication: ClientCredentials.Authentication
        /// The authorities to trust; nil for the backend's, or the system's.
        package let caFile: String?
    }
}

/// Herald's login to the brokers: `kafka.auth.*` in the form of its kind.
package enum KafkaAuthentication: Sendable, Hashable {
    /// Left to `kafka.properties`.
    case none
    /// User and password; the mechanism is `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    case password(mechanism: String, username: String, file: String)
    case token(Authentication.OAuth2)
    case certificate(file: String, keyFile: String)
}

extension SettingsSection<SettingsTable.Kafka> {
    /// The login; nil when a setting required by its kind is missing.
    package var authentication: KafkaAuthentication? {
        switch auth.kind {
        case .none: return KafkaAuthentication.none
        case .plain, .scramSHA256, .scramSHA512:
            guard let username = auth.username, let file = auth.passwordFile else { return nil }
            return .password(mechanism: auth.kind.rawValue.uppercased(), username: username, file: file)
        case .oauthbearer:
            guard let tokenURL = auth.tokenURL, let clientID = auth.clientID, let file = auth.clientSecretFile else {
                return nil
            }
            return .token(
                Authentication.OAuth2(
                    tokenURL: tokenURL, clientID: clientID, clientSecret: .file(file), scope: auth.scope,
                    clientAuthentication: auth.clientAuthentication, caFile: auth.caFile))
        case .certificate:
            guard let file = auth.certificateFile, let keyFile = auth.keyFile else { return nil }
            return .certificate(file: file, keyFile: keyFile)
        }
    }

    private var auth: SettingsSection<SettingsTable.Kafka.Authentication> { self[dynamicMember: \.auth] }
}

extension SettingsSection<SettingsTable.Backend> {
    /// The authentication; nil when a setting required by its kind is missing.
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
    /// The source of the token that callers need off loopback; nil without one.
    package var tokenSource: SecretSource? { values.secret(.adminToken) }
}
