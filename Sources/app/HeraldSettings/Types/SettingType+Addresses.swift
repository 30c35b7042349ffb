import HeraldText

extension SettingType<HTTPAddress> {
    /// `http://host:port/base`, without user, query and fragment.
    static var httpAddress: Self {
        text(
            "URL", allowed: "http:// or https://, a host, perhaps a port and a path",
            pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"
        ) { text in
            do throws(InputError) {
                return .value(try HTTPAddress(text))
            } catch {
                return .refused(error.message)
            }
        }
    }
}

extension SettingType<ListenAddress> {
    /// `127.0.0.1:9464`, `[::1]:9464` or `off`.
    static var listenAddress: Self {
        text(
            "ADDRESS", allowed: "an IP address and a port (127.0.0.1:9464, [::1]:9464), or off",
            pattern: "^(off|[0-9.]+:[0-9]{1,5}|\\[[0-9A-Fa-f:.]+\\]:[0-9]{1,5})$"
        ) { text in ListenAddress(text).map { .value($0) } ?? .refused("is not an address to listen on") }
    }
}

extension SettingType<Secret> {
    /// A proxy's address, which may hold a user and a password; both are hidden when it is shown.
    static var proxy: Self {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        return text(
            "URL", allowed: "http://, https:// or socks5:// with a host and a port",
            pattern: "^(https?|socks(4a?|5h?))://[^\\s/]+/?$", show: { .string(redactingUserInfo($0.reveal())) },
            parse: { text in
                guard let scheme = schemes.first(where: { text.hasPrefix($0 + "://") }) else {
                    return .refused("has no known scheme")
                }
                let rest = text.dropFirst(scheme.count + 3)
                let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
                let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
                guard TextRule.line(4_096).accepts(text), !host.contains("/"), HostAndPort(host)?.port != nil else {
                    return .refused("is not the address of a proxy")
                }
                return .value(Secret(text))
            })
    }
}

extension SettingType<String> {
    /// `https://login.example.com/oauth2/token`, perhaps with a query.
    static var tokenURL: Self {
        text(
            "URL", allowed: "http:// or https://, a host, perhaps a port, a path and a query",
            pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?(\\?[^\\s#]*)?$"
        ) { text in
            let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
            guard isClean, HTTPAddress(tokenURL: text) != nil else {
                return .refused("is not the address of a token endpoint")
            }
            return .value(text)
        }
    }

    /// The address of a worker's health and metrics: a host and a port.
    static var adminPort: Self {
        text(
            "HOST:PORT", allowed: "a host and a port (10.0.0.7:9464)",
            pattern: "^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._\\-]+):[0-9]{1,5}$"
        ) { HostAndPort($0)?.port == nil ? .refused("is not the address of an admin port") : .value($0) }
    }

    /// One Kafka broker: a host and perhaps a port, perhaps with librdkafka's `SASL_SSL://` in front.
    static var broker: Self {
        let protocols = ["PLAINTEXT://", "SSL://", "SASL_PLAINTEXT://", "SASL_SSL://"]
        return text(
            "HOST:PORT", allowed: "a host and a port (kafka:9092)",
            pattern: "^((SASL_)?(PLAINTEXT|SSL)://)?(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._\\-]+)(:[0-9]{1,5})?$"
        ) { text in
            let prefix = protocols.first { text.hasPrefix($0) } ?? ""
            return HostAndPort(text.dropFirst(prefix.count)) == nil
                ? .refused("is not the address of a broker") : .value(text)
        }
    }
}
