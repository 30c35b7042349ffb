/// The address of a server: an IP address and a port, or none.
package enum ListenAddress: Sendable, Equatable, CustomStringConvertible {
    case off
    /// An IP address; port 0 takes a free one.
    case address(host: String, port: UInt16)

    /// Reads `127.0.0.1:9464`, `[::1]:9464` or `off`; nil for any other text, including names.
    package init?(_ text: String) {
        guard text != "off" else {
            self = .off
            return
        }
        guard let parts = HostAndPort(text), let port = parts.port.flatMap(UInt16.init(exactly:)),
            parts.host.contains(":") || IPAddress.isIPv4(parts.host)
        else { return nil }
        self = .address(host: parts.host, port: port)
    }

    package var description: String {
        switch self {
        case .off: "off"
        case .address(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
