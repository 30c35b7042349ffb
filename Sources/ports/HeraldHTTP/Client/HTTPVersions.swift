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
