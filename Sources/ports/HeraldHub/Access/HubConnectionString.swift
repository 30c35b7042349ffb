public import HeraldText

/// A hub's namespace and our credentials for it: `Endpoint=sb://NS/;SharedAccessKeyName=NAME;SharedAccessKey=KEY`.
///
/// The parts may come in any order, their names in any case, and a `;` may end them (azure-notificationhubs-dotnet).
/// Printed or described it shows no key.
public struct HubConnectionString: Sendable, Hashable, CustomStringConvertible {
    /// Host and optional port: `contoso.servicebus.windows.net`.
    public let authority: String
    /// The path before the hub's name, without a trailing slash; nearly always empty.
    public let basePath: String
    /// The name of the rule that the key belongs to.
    public let keyName: String
    /// The key as written in the string; it is never decoded.
    public let key: Secret

    private static let longest = 256

    /// Parses the text; throws with its fault, without a word of the key.
    public init(_ text: String) throws(InvalidArgument) {
        var parts: [String: String] = [:]
        // Editors on Windows begin files with a byte-order mark.
        let text = String(text.unicodeScalars.drop { $0 == "\u{FEFF}" })
        for part in text.split(separator: ";") where !part.allSatisfy(\.isWhitespace) {
            // Keys end in "=".
            guard let equals = part.firstIndex(of: "=") else {
                throw Self.mistake("has a part without '='")
            }
            let name = part[..<equals].trimmed.lowercased()
            guard parts.updateValue(part[part.index(after: equals)...].trimmed, forKey: name) == nil else {
                throw Self.mistake("has a part twice")
            }
        }
        guard let endpoint = parts["endpoint"] else { throw Self.mistake("has no Endpoint") }
        guard let keyName = parts["sharedaccesskeyname"], let key = parts["sharedaccesskey"] else {
            throw Self.mistake("has no SharedAccessKeyName or no SharedAccessKey")
        }
        for value in [keyName, key] {
            guard (1...Self.longest).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw Self.mistake("has a name or key that is not 1 to \(Self.longest) printable ASCII characters") }
        }
        (authority, basePath) = try Self.address(endpoint)
        self.keyName = keyName
        self.key = Secret(key)
    }

    /// `https://`, host and port: hubs are called over TLS alone.
    public var origin: String { "https://\(authority)" }

    /// The endpoint and the key's name.
    public var description: String { "sb://\(authority)\(basePath)/ as \(keyName)" }

    private static func address(_ endpoint: String) throws(InvalidArgument) -> (String, String) {
        let schemes = ["sb://", "https://", "amqps://"]
        guard let scheme = schemes.first(where: { endpoint.lowercased().hasPrefix($0) }) else {
            throw mistake("has an Endpoint that does not begin with sb://")
        }
        let rest = endpoint.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path.removeLast() }
        let isClean = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"@?#%\"\\".utf8.contains($0) }
        guard isClean, !authority.isEmpty, !authority.hasPrefix(":") else {
            throw mistake("has an Endpoint without a proper host")
        }
        return (authority.lowercased(), String(path))
    }

    private static func mistake(_ text: String) -> InvalidArgument {
        InvalidArgument(
            "the hub's connection string \(text); "
                + "it looks like Endpoint=sb://NS.servicebus.windows.net/;SharedAccessKeyName=NAME;SharedAccessKey=KEY")
    }
}
