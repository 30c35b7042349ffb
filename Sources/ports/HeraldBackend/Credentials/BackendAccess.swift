public import HeraldHTTP
public import HeraldText
public import HeraldTime

/// The present credentials and trust of calls to the backend, or of connections to brokers.
public struct BackendAccess: Sendable {
    /// Herald's credentials; a token that was fetched is a bearer token.
    public let credentials: Credentials
    /// The value of the `Authorization` header; `nil` leaves it out.
    public let authorization: Secret?
    /// The end of the token; `nil` without an end, or when unknown.
    public let endsAt: MonotonicTime?
    /// Counts the credentials that there have been.
    public let revision: Int
    /// The proxy and Herald's credentials for it.
    public let proxy: ProxyAddress?
    /// The files that TLS needs.
    public let tls: TLSFiles
    /// Counts the contents that those files, and the proxy's credentials, have had.
    public let filesRevision: Int
}

/// News of the ``CredentialSource`` for callers of the backend.
public enum AccessNews: Sendable {
    /// Use this from now on.
    case access(BackendAccess)
    /// There is no access token, or none any more.
    case unavailable(TokenTrouble)
}

/// News of the ``CredentialSource`` for people.
public enum AccessNotice: Sendable, Equatable {
    /// Other credentials are in use.
    case credentialsChanged
    /// Certificates, keys or authorities have changed and are in use for new connections.
    case filesChanged
    /// A file with a secret, or one that TLS needs, can't be read; what was read before stays in use.
    case unreadable(String)
    /// The access token could not be renewed; it is used until it ends.
    case tokenNotRenewed(TokenTrouble)
    /// It could be renewed in the end.
    case tokenRenewed

    /// Whether an operator should look after it.
    public var isTrouble: Bool {
        switch self {
        case .credentialsChanged, .filesChanged, .tokenRenewed: false
        case .unreadable, .tokenNotRenewed: true
        }
    }

    /// One sentence for people, without secrets.
    ///
    /// - Parameter owner: whose credentials they are.
    public func sentence(of owner: CredentialConfiguration.Owner) -> String {
        switch self {
        case .credentialsChanged: "\(owner.name) credentials have changed and are in use"
        case .filesChanged: "\(owner.name) TLS files or proxy password have changed; new connections use them"
        case .unreadable(let reason):
            "\(owner.name) credentials or TLS files can't be read again, the old ones stay in use: \(reason)"
        case .tokenNotRenewed(let trouble):
            "the access token can't be renewed; it stays in use until it expires: \(trouble.sentence(of: owner))"
        case .tokenRenewed: "the token endpoint gives access tokens again"
        }
    }
}
