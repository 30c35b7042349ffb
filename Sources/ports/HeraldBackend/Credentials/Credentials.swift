internal import Foundation
public import HeraldHub
public import HeraldText
internal import HeraldTime

/// The way in which Herald authenticates itself to the backend.
public enum Credentials: Sendable, Hashable {
    /// Basic authentication (RFC 7617) in UTF-8.
    case basic(username: String, password: Secret)
    /// A bearer token (RFC 6750).
    case bearer(token: Secret)
    /// A bearer token that a token endpoint gives for a client's id and secret (OAuth 2.0, RFC 6749 §4.4).
    case oauth2(ClientCredentials)
    /// Tokens that are signed here with the key of a notification hub's connection string.
    case sharedAccess(HubConnectionString)
    /// No `Authorization` header at all.
    case none

    /// What keeps these credentials from being sent, in one line; `nil` when they are well formed.
    var mistake: String? {
        switch self {
        case .basic(let username, let password):
            if username.contains(":") { return "the user name must not contain ':'" }
            let isClean = !Self.hasControls(username) && !Self.hasControls(password.reveal())
            return isClean ? nil : "user name and password must not contain control characters"
        case .bearer(let token):
            let isToken = !token.reveal().isEmpty && token.reveal().utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isToken ? nil : "the token must be printable ASCII without spaces, and not empty"
        case .oauth2(let client): return client.mistake
        case .sharedAccess, .none: return nil
        }
    }

    /// The value of the `Authorization` header, as far as it is known without asking a server.
    var authorization: String? {
        switch self {
        case .basic(let username, let password):
            "Basic " + Data("\(username):\(password.reveal())".utf8).base64EncodedString()
        case .bearer(let token): "Bearer " + token.reveal()
        case .sharedAccess(let string):
            SharedAccessSignature(
                for: string, expiresAt: SystemClock.wall().milliseconds / 1_000 + HubClient.tokenLifetimeSeconds
            ).authorization
        case .oauth2, .none: nil
        }
    }

    static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
