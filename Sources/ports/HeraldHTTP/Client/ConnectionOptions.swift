public import HeraldTime

/// The target and the kind of connections.
public struct ConnectionOptions: Sendable {
    /// Scheme, host and port, as `https://api.example.org:8443`; anything after them is ignored.
    public var origin: String
    /// The most connections, those being made included.
    public var limit: Int
    /// The longest time for making one connection; calls have their own deadlines besides.
    public var connectTimeout: Milliseconds
    /// The proxy; the environment's is never used.
    public var proxy: ProxyAddress?
    /// The files that TLS needs.
    public var tls: TLSFiles
    /// Whether an answer's header Location is kept.
    public var keepsLocation: Bool
    /// The allowed versions of HTTP.
    public var versions: HTTPVersions

    /// Options for an origin; everything else has a default.
    public init(
        origin: String, limit: Int = 64, connectTimeout: Milliseconds = .seconds(10), proxy: ProxyAddress? = nil,
        tls: TLSFiles = TLSFiles(), keepsLocation: Bool = false, versions: HTTPVersions = .http1
    ) {
        self.origin = origin
        self.limit = max(1, limit)
        self.connectTimeout = max(.milliseconds(1), connectTimeout)
        self.proxy = proxy
        self.tls = tls
        self.keepsLocation = keepsLocation
        self.versions = versions
    }

    /// Whether bytes on the socket are the bytes of HTTP, so that libcurl need not stand between.
    var isPlain: Bool { !isEncrypted && !hasEncryptedProxy }

    var isEncrypted: Bool { !origin.lowercased().hasPrefix("http://") }

    private var hasEncryptedProxy: Bool { proxy?.url.lowercased().hasPrefix("https://") == true }

    /// The versions of HTTP possible with this origin: without TLS they cannot be agreed on.
    var versionsThatCanBe: HTTPVersions { versions == .agreed && !isEncrypted ? .http1 : versions }

    /// The offer in one connection's handshake; `nil` where none is possible or wanted.
    func makeOffer() -> HTTP2Offer? {
        guard isEncrypted, versions != .http1 else { return nil }
        return HTTP2Offer(isOptional: versions == .agreed, hasEncryptedProxy: hasEncryptedProxy)
    }

    /// The origin's host, an IPv6 address without its brackets.
    var host: String {
        let authority = origin.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}

/// The versions of HTTP that a pool may speak.
public enum HTTPVersions: String, Sendable, CaseIterable {
    /// HTTP/2 where TLS's handshake agrees on it (ALPN), else HTTP/1.1; without TLS there is no agreement.
    case agreed = "auto"
    /// HTTP/1.1 alone.
    case http1 = "1.1"
    /// HTTP/2 alone: agreed on in TLS's handshake, by prior knowledge without TLS.
    case http2 = "2"

    /// The same without a demand, for servers beside the backend that may speak HTTP/1.1 alone.
    public var undemanding: Self { self == .http2 ? .agreed : self }
}
