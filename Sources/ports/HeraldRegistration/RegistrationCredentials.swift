internal import Foundation

/// The app user's credentials for the backend; their description shows nothing.
public enum RegistrationCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// Basic authentication (RFC 7617) in UTF-8.
    case basic(username: String, password: String)
    /// A bearer token (RFC 6750).
    case bearer(token: String)

    /// A mask.
    public var description: String { "***" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The value of the header `Authorization`.
    func authorization() throws(RegistrationError) -> String {
        switch self {
        case .basic(let username, let password):
            guard !username.contains(":"), !Self.hasControls(username), !Self.hasControls(password) else {
                throw .invalid(reason: "user name and password must hold no control characters, and the name no ':'")
            }
            return "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
        case .bearer(let token):
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw .invalid(reason: "the token must be printable ASCII without spaces, and not empty")
            }
            return "Bearer " + token
        }
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
