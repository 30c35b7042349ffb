package import HeraldBackend

/// A login to the brokers with a secret that is in a file.
package struct KafkaLogin: Sendable {
    /// The settings that make it: logins of equal ones are the same.
    package let identity: [String?]
    package let mechanism: String
    package let credentials: @Sendable () throws -> Credentials
}

extension SettingsSection<SettingsTable.Kafka> {
    package var auth: SettingsSection<SettingsTable.Kafka.Authentication> { self[dynamicMember: \.auth] }

    /// The login; nil when it is a certificate, left to `kafka.properties`, or lacks a setting.
    package var login: KafkaLogin? {
        let auth = auth
        let identity = [
            auth.kind.rawValue, auth.username, auth.passwordFile, auth.tokenURL, auth.clientID, auth.clientSecretFile,
            auth.scope, auth.clientAuthentication.rawValue, auth.caFile,
        ]
        switch auth.kind {
        case .none, .certificate: return nil
        case .plain, .scramSHA256, .scramSHA512:
            guard let username = auth.username, let file = auth.passwordFile else { return nil }
            return KafkaLogin(identity: identity, mechanism: auth.kind.rawValue.uppercased()) {
                .basic(username: username, password: try SecretSource.file(file).current())
            }
        case .oauthbearer:
            guard let tokenURL = auth.tokenURL, let clientID = auth.clientID, let file = auth.clientSecretFile else {
                return nil
            }
            return KafkaLogin(identity: identity, mechanism: "OAUTHBEARER") {
                .oauth2(
                    ClientCredentials(
                        tokenURL: tokenURL, clientID: clientID, clientSecret: try SecretSource.file(file).current(),
                        scope: auth.scope, authentication: auth.clientAuthentication, caFile: auth.caFile))
            }
        }
    }
}

extension AuthenticationKind {
    var secret: SecretPair? {
        switch self {
        case .basic: .password
        case .bearer: .token
        case .oauth2: .clientSecret
        case .none: nil
        }
    }
}

extension SettingsSection<SettingsTable.Backend> {
    private var secret: SecretSource? { self[dynamicMember: \.auth].kind.secret.flatMap(values.secret) }

    /// Whether the secret is in a file, so that it may change.
    package var hasSecretFile: Bool { if case .file = secret { true } else { false } }

    /// Herald's credentials with their secret as it is now; none when they lack a setting.
    package func credentials() throws -> Credentials {
        let auth = self[dynamicMember: \.auth]
        guard let secret else { return .none }
        switch auth.kind {
        case .none: return .none
        case .basic:
            guard let username = auth.username else { return .none }
            return .basic(username: username, password: try secret.current())
        case .bearer: return .bearer(token: try secret.current())
        case .oauth2:
            guard let tokenURL = auth.tokenURL, let clientID = auth.clientID else { return .none }
            return .oauth2(
                ClientCredentials(
                    tokenURL: tokenURL, clientID: clientID, clientSecret: try secret.current(), scope: auth.scope,
                    authentication: auth.clientAuthentication, caFile: auth.caFile))
        }
    }
}

extension SettingsSection<SettingsTable.Admin> {
    /// The source of the token that callers need off loopback; nil without one.
    package var tokenSource: SecretSource? { values.secret(.adminToken) }
}
