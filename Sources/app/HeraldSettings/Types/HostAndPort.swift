internal import Glibc

/// `host`, `host:port`, `[address]` or `[address]:port`.
package struct HostAndPort: Sendable, Equatable {
    /// Without the brackets of an IPv6 address.
    package let host: String
    package let port: Int?

    /// Reads `text`; nil for any other form.
    package init?(_ text: some StringProtocol) {
        let form = /(?:\[(?<address>[0-9A-Fa-f:.]+)\]|(?<name>[A-Za-z0-9._\-]{1,253}))(?::(?<port>[0-9]{1,5}))?/
        guard let found = String(text).wholeMatch(of: form)?.output, let host = found.address ?? found.name else {
            return nil
        }
        self.host = String(host)
        port = found.port.flatMap { Int($0) }
        guard found.address == nil || IPAddress.isIPv6(self.host), port ?? 0 <= 65_535 else { return nil }
    }
}

enum IPAddress {
    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }
}
