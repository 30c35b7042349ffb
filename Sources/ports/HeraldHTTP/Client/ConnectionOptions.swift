public import HeraldTime

/// Where connections go and how.
public struct ConnectionOptions: Sendable {
    /// Scheme, host and port, as `https://api.example.org:8443`; nothing behind it counts.
    public var origin: String
    /// How many connections there are at most, those that are being made included.
    public var limit: Int
    /// How long making one connection may take; calls have their own deadlines besides.
    public var connectTimeout: Milliseconds
    /// The proxy; the environment's is never used.
    public var proxy: ProxyAddress?
    /// The files that TLS needs.
    public var tls: TLSFiles
    /// Whether an answer's header Location is kept.
    public var keepsLocation: Bool
    /// Which versions of HTTP may be spoken.
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

    /// Whether the backend itself is reached by TLS.
    var isEncrypted: Bool { !origin.lowercased().hasPrefix("http://") }

    private var hasEncryptedProxy: Bool { proxy?.url.lowercased().hasPrefix("https://") == true }

    /// Which versions of HTTP may be spoken to this origin: without TLS nothing can be agreed on.
    var versionsThatCanBe: HTTPVersions { versions == .agreed && !isEncrypted ? .http1 : versions }

    /// What is offered in one connection's handshake; `nil` where nothing can be, or should.
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

/// Which versions of HTTP a pool may speak.
public enum HTTPVersions: Sendable {
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 where TLS's handshake agrees on it (ALPN), else HTTP/1.1; without TLS nobody can ask.
    case agreed
    /// HTTP/2 alone: agreed on in TLS's handshake, by prior knowledge without TLS.
    case http2

    /// The same without a demand, for servers beside the backend that may speak HTTP/1.1 alone.
    public var undemanding: Self { self == .http2 ? .agreed : self }
}
