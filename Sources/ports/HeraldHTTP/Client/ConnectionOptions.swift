/// Where connections go and how.
public struct ConnectionOptions: Sendable {
    /// Scheme, host and port, as `https://api.example.org:8443`; nothing behind it counts.
    public var origin: String
    /// How many connections there are at most, those that are being made included.
    public var limit: Int
    /// How long making one connection may take; calls have their own deadlines besides.
    public var connectTimeoutMilliseconds: Int
    /// The proxy; the environment's is never used.
    public var proxy: ProxyAddress?
    /// The files that TLS needs.
    public var tls: TLSFiles
    /// Whether an answer's header Location is kept.
    public var keepsLocation: Bool

    /// Options for an origin; everything else has a default.
    public init(
        origin: String, limit: Int = 64, connectTimeoutMilliseconds: Int = 10_000, proxy: ProxyAddress? = nil,
        tls: TLSFiles = TLSFiles(), keepsLocation: Bool = false
    ) {
        self.origin = origin
        self.limit = max(1, limit)
        self.connectTimeoutMilliseconds = max(1, connectTimeoutMilliseconds)
        self.proxy = proxy
        self.tls = tls
        self.keepsLocation = keepsLocation
    }

    /// Whether bytes on the socket are the bytes of HTTP, so that libcurl need not stand between.
    var isPlain: Bool {
        origin.lowercased().hasPrefix("http://") && proxy?.url.lowercased().hasPrefix("https://") != true
    }

    /// The origin's host, an IPv6 address without its brackets.
    var host: String {
        let authority = origin.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}
