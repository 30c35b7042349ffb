public import HeraldText

/// How a token endpoint knows this client, and what is asked of it (OAuth 2.0, RFC 6749 §4.4).
public struct ClientCredentials: Sendable, Hashable {
    /// The place of the client's id and secret in a token request (RFC 6749 §2.3.1).
    public enum Authentication: String, Sendable, CaseIterable {
        /// In an `Authorization: Basic` header (`client_secret_basic`).
        case basic
        /// In the form (`client_secret_post`).
        case post
    }

    /// The token endpoint.
    public let tokenURL: String
    /// The client's id.
    public let clientID: String
    /// The client's secret.
    public let clientSecret: Secret
    /// The token's purpose; `nil` leaves that to the endpoint.
    public let scope: String?
    /// The way in which the client shows its id and secret.
    public let authentication: Authentication
    /// The authorities (PEM) that the token endpoint is trusted by; `nil` for those of the backend.
    public let caFile: String?

    /// A client at a token endpoint.
    public init(
        tokenURL: String, clientID: String, clientSecret: Secret, scope: String? = nil,
        authentication: Authentication = .post, caFile: String? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scope = scope
        self.authentication = authentication
        self.caFile = caFile
    }

    /// The fault that keeps these from being sent, in one line; `nil` when they are well formed.
    var mistake: String? {
        guard address != nil, !tokenURL.contains("#"), tokenURL.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "the token endpoint's URL must begin with http:// or https:// and hold no user and no fragment"
        }
        if clientID.isEmpty || Credentials.hasControls(clientID) {
            return "the client's id must not be empty or contain control characters"
        }
        if clientSecret.reveal().isEmpty || Credentials.hasControls(clientSecret.reveal()) {
            return "the client's secret must not be empty or contain control characters"
        }
        let isScope = scope?.utf8.allSatisfy { (0x20...0x7E).contains($0) } ?? true
        return isScope ? nil : "the scope must be printable ASCII"
    }

    /// Whether the id and secret would travel unencrypted to another machine.
    var isExposed: Bool {
        guard let address else { return false }
        return !address.isEncrypted && !address.isLoopback
    }

    var host: String { address?.host ?? "" }

    /// The endpoint's address; a query is allowed there (RFC 6749 §3.2) and plays no part in reaching it.
    private var address: BackendAddress? {
        try? BackendAddress(String(tokenURL.prefix { $0 != "?" }))
    }
}
