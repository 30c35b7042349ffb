internal import HeraldHTTP

/// The names under which the console answers, and the pages whose requests it accepts.
///
/// | attack | what refuses it |
/// |---|---|
/// | a foreign page that makes its own name lead here (DNS rebinding) | the name in `Host` has to be an address, localhost or one of `console.hosts` |
/// | a foreign page that sends a request (CSRF) | `Origin` has to be the console's own, `Sec-Fetch-Site` same-origin, and the cookie is `SameSite=Strict` |
struct OriginRules: Sendable {
    private let hosts: Set<String>

    /// - Parameter hosts: names beside addresses and localhost, as passed on by a proxy in front.
    init(hosts: [String]) {
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    func refusal(of request: HTTPRequest) -> String? {
        guard let host = request.headers["Host"] else { return "the request has no Host header" }
        guard isKnown(host) else {
            return "the console does not answer to this name: ask for its address, or add the name to console.hosts"
        }
        // The same decoding as the server's: an encoded letter changes nothing.
        guard request.method != "GET" || request.target.segments.first == "api" else { return nil }
        if let site = request.headers["Sec-Fetch-Site"], site != "same-origin", site != "none" {
            return "another site's page may not ask for this"
        }
        guard let origin = request.headers["Origin"] else {
            // Browsers send it with every request but GET; a script shows a token, which a foreign page does not have.
            let isScript = request.headers["Authorization"] != nil
            return request.method == "GET" || isScript ? nil : "the request has no Origin header"
        }
        guard Self.authority(of: origin) == host.lowercased() else {
            return "another site's page may not ask for this"
        }
        return nil
    }

    /// `host:port` of an HTTP origin (RFC 6454); `nil` for other origins.
    private static func authority(of origin: String) -> String? {
        for scheme in ["http://", "https://"] where origin.lowercased().hasPrefix(scheme) {
            return origin.dropFirst(scheme.count).lowercased()
        }
        return nil
    }

    private func isKnown(_ host: String) -> Bool {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), name[name.index(after: colon)...].allSatisfy(\.isNumber),
            !name[..<colon].contains(":") || name[..<colon].hasSuffix("]")
        {
            name = name[..<colon]
        }
        let isAddress =
            name.hasPrefix("[") && name.hasSuffix("]")
            || name.split(separator: ".", omittingEmptySubsequences: false).count == 4
                && name.split(separator: ".").allSatisfy { UInt8($0) != nil }
        return isAddress || name.lowercased() == "localhost" || hosts.contains(name.lowercased())
    }
}

/// The client of a request that came through proxies.
struct ForwardedAddress: Sendable {
    /// Those whose `X-Forwarded-For` is trusted.
    let proxies: [HTTPNetwork]

    /// The last address that is not a trusted proxy's: the client may have forged the ones before it.
    func client(of request: HTTPRequest) -> HTTPPeer {
        var client = request.peer
        let fields = request.headers.fields.filter { $0.name.lowercased() == "x-forwarded-for" }
        for entry in fields.flatMap({ $0.value.split(separator: ",") }).reversed() {
            guard proxies.contains(where: { $0.contains(client) }) else { return client }
            guard let next = HTTPPeer(String(entry.filter { $0 != " " && $0 != "\t" })) else { return client }
            client = next
        }
        return client
    }
}
