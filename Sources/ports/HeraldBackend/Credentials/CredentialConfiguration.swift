internal import HeraldHTTP
public import HeraldText
import HeraldTime

/// What a ``CredentialSource`` keeps up to date, and how it asks a token endpoint.
public struct CredentialConfiguration: Sendable {
    /// Whose credentials they are, for what is said of them.
    public struct Owner: Sendable, Equatable {
        /// As it stands before what it owns.
        let name: String
        /// The path of its settings.
        let section: String
        let secretSetting: String

        /// The backend's, from the settings `backend.auth.*`.
        public static let backend = Self(name: "the backend's", section: "backend.auth", secretSetting: "clientSecret")
        /// The brokers', from the settings `kafka.auth.*`.
        public static let brokers = Self(name: "the brokers'", section: "kafka.auth", secretSetting: "clientSecretFile")
    }

    /// Whose they are.
    public let owner: Owner
    /// Herald's credentials.
    public let credentials: Credentials
    let timeout: Milliseconds
    let proxy: ProxyAddress?
    /// Whom a token endpoint is trusted by, and what it is shown.
    let tls: TLSFiles
    /// The allowed versions of HTTP for a token endpoint; HTTP/2 is never demanded of it.
    let versions: HTTPVersions
}

extension CredentialConfiguration {
    /// Credentials for the brokers; throws ``InvalidArgument`` when they cannot work.
    public init(brokers credentials: Credentials) throws(InvalidArgument) {
        // User and password are any text there.
        if case .oauth2(let client) = credentials, let mistake = client.mistake {
            throw InvalidArgument(mistake)
        }
        self.init(
            owner: .brokers, credentials: credentials, timeout: .seconds(10), proxy: nil, tls: TLSFiles(),
            versions: .http1)
    }
}

extension BackendConfiguration {
    /// What is kept up to date of it.
    var kept: CredentialConfiguration {
        CredentialConfiguration(
            owner: .backend, credentials: credentials, timeout: timeout, proxy: connections.proxy,
            tls: connections.tls, versions: connections.versions)
    }
}
