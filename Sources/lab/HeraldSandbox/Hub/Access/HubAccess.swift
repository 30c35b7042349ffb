import HeraldHTTP
import HeraldHub
import HeraldText

enum HubRight: Sendable {
    case listen
    case send
    case manage
}

/// The access rules of a hub, with the service's check of tokens.
struct HubAccess: Sendable {
    struct Rule: Sendable {
        let name: String
        var key: Secret
        let rights: Set<HubRight>
    }

    private(set) var rules: [Rule]
    /// The time after its expiry for which a token is accepted.
    let clockSkewSeconds: Int64

    mutating func replaceKey(ofRule name: String, with key: Secret) {
        for index in rules.indices where rules[index].name == name { rules[index].key = key }
    }

    /// The rights of a request's token, or the refusal; the time is in seconds of Unix time.
    func rights(of request: HTTPRequest, now: Int64) -> Result<Set<HubRight>, Reply> {
        func refused(_ name: String, _ code: Int, _ text: String) -> Result<Set<HubRight>, Reply> {
            .failure(.failure(401, "\(name): \(text). SubCode=\(code)"))
        }
        guard let authorization = request.headers["Authorization"] else {
            return refused("MissingToken", 40_102, "The request has no authorization header")
        }
        guard let token = SharedAccessSignature(authorization: authorization) else {
            return refused("MalformedToken", 40_105, "The authorization header is malformed")
        }
        guard let rule = rules.first(where: { $0.name == token.keyName }), token.isSigned(with: rule.key) else {
            return refused("InvalidSignature", 40_103, "The token has an invalid signature")
        }
        guard Self.covers(token.encodedAudience, request) else {
            return refused("InvalidAudience", 40_104, "The token is for another address")
        }
        guard token.expiresAt + clockSkewSeconds > now else {
            return refused("ExpiredToken", 40_106, "The token is expired")
        }
        return .success(rule.rights)
    }

    /// Whether the decoded audience is a prefix of the request's address; scheme, port and case do not count.
    ///
    /// The SDKs sign the namespace, the path with a trailing slash, or all with the query; the port may be missing.
    static func covers(_ encodedAudience: String, _ request: HTTPRequest) -> Bool {
        guard let target = HTTPTarget(parsing: "/?a=" + encodedAudience),
            let decoded = target.values(of: "a").first?.lowercased(), let scheme = decoded.firstRange(of: "://")
        else { return false }
        var audience = withoutPort(decoded[scheme.upperBound...])
        while audience.hasSuffix("/") { audience.removeLast() }
        let query = request.target.query.isEmpty ? "" : "?" + request.target.query
        let address =
            withoutPort((request.headers["Host"] ?? "")[...]).lowercased()
            + (request.target.path + query).lowercased()
        guard address.hasPrefix(audience) else { return false }
        let rest = address.dropFirst(audience.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?")
    }

    private static func withoutPort(_ address: Substring) -> String {
        let authority = address.prefix { $0 != "/" && $0 != "?" }
        let rest = address.dropFirst(authority.count)
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return String(address)
        }
        return String(authority[..<colon] + rest)
    }
}
