package import HeraldText

/// The backend's address: scheme, host, port and the prefix of every request's path.
package struct HTTPAddress: Sendable, Equatable, CustomStringConvertible {
    /// Whether it is `https`.
    package let isTLS: Bool
    /// A name or an IP address, IPv6 without brackets.
    package let host: String
    /// The port, 80 or 443 by default.
    package let port: Int
    /// The part between the host and a request's path: empty, or `/base` without a final slash.
    package let basePath: String

    /// Reads `http://host:port/base`.
    package init(_ text: String) throws(InputError) {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else {
            throw InputError("has no http:// or https://")
        }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else {
            throw InputError("holds a user; credentials have settings of their own")
        }
        guard !rest.contains("?"), !rest.contains("#") else { throw InputError("has a query or a fragment") }
        guard let parts = HostAndPort(authority), parts.port != 0 else { throw InputError("has no valid host") }
        var path = rest[end...]
        guard path.isEmpty || TextRule.requestPath.accepts(String(path)) else {
            throw InputError("has no valid path")
        }
        while path.hasSuffix("/") { path.removeLast() }
        isTLS = scheme == "https://"
        host = parts.host
        port = parts.port ?? (isTLS ? 443 : 80)
        basePath = String(path)
    }

    /// The address of a token endpoint, whose URL may have a query (RFC 6749 §3.2); nil for any other text.
    init?(tokenURL: String) {
        guard let address = try? Self(String(tokenURL.prefix { $0 != "?" })) else { return nil }
        self = address
    }

    private var portSuffix: String { port == (isTLS ? 443 : 80) ? "" : ":\(port)" }

    /// The host as in an address and the `Host` header: brackets around IPv6, the port unless it is the scheme's.
    package var authority: String { (host.contains(":") ? "[\(host)]" : host) + portSuffix }

    package var description: String { "\(isTLS ? "https" : "http")://\(authority)\(basePath)" }

    /// Whether the host names this machine by its spelling: `localhost`, `127.…` or `::1`.
    package var isLoopback: Bool {
        host.lowercased() == "localhost" || host == "::1" || ListenAddress("\(host):1") != nil && host.hasPrefix("127.")
    }
}
