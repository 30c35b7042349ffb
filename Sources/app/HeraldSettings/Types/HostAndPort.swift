/// `host`, `host:port`, `[address]` or `[address]:port`.
struct HostAndPort: Sendable, Equatable {
    /// Without the brackets of an IPv6 address.
    let host: String
    let port: Int?

    /// Reads `text`; nil for any other form.
    init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            guard Self.isIPv6(host) else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<end])
            guard TextRule.name(1...253, others: "._-").accepts(host) else { return nil }
            rest = rest[end...]
        }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == ":", let number = Self.port(rest.dropFirst()) else { return nil }
        port = number
    }

    /// A port, 0 included.
    private static func port(_ digits: Substring) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(digits), number <= 65_535
        else { return nil }
        return number
    }

    /// Whether the characters can form an IPv6 address; the system checks the rest on use.
    private static func isIPv6(_ text: String) -> Bool {
        text.contains(":") && (2...45).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
