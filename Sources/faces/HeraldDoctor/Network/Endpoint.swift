/// A host and a port.
struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// Without the brackets of an IPv6 address.
    var host: String
    var port: Int

    /// `host:port`.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Endpoint {
    /// Reads `host`, `host:port`, `[address]:port`, with a scheme before it or a path behind it.
    init(_ text: String, standardPort: Int) {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "/" }
        if rest.first == "[", let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            host = String(rest.prefix { $0 != ":" })
            rest = rest.dropFirst(host.count)
        }
        port = Int(rest.dropFirst()) ?? standardPort
    }
}
