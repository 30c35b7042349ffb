/// A complete request, as the server hands it to its handler.
public struct HTTPRequest: Sendable {
    /// The method as it was sent, for example `POST`.
    public let method: String
    /// The path and the query.
    public let target: HTTPTarget
    /// The header fields; what is not UTF-8 in a value is replaced by U+FFFD.
    public let headers: HTTPHeaderFields
    /// The body without any transfer coding, never larger than the server's limit.
    public let body: [UInt8]
    /// The client's address.
    public let peer: HTTPPeer
    /// Whether the client's address belongs to this machine's loopback network.
    public var isFromLoopback: Bool { peer.isLoopback }

    /// Whether its header `Host` is an address or a name of this machine alone, to which no site can move its own name
    /// (DNS rebinding).
    public var namesThisMachine: Bool {
        guard var name = headers["Host"]?[...] else { return false }
        if let colon = name.lastIndex(of: ":"), name[name.index(after: colon)...].allSatisfy(\.isNumber) {
            name = name[..<colon]
        }
        return name.lowercased() == "localhost" || HTTPPeer(String(name))?.isLoopback ?? false
    }

    /// The token of a header `Authorization: Bearer …` (RFC 6750); `nil` without one, or with another scheme.
    public var bearerToken: String? {
        let scheme = "bearer "
        guard let value = headers["Authorization"], value.lowercased().hasPrefix(scheme) else { return nil }
        return String(value.dropFirst(scheme.count))
    }
}
