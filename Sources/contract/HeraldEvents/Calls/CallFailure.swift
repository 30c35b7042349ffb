/// The reason why a call has no answer, by the words of metrics and records; ``CallVerdict`` has the consequence.
public enum CallFailure: UInt8, Sendable, CaseIterable {
    /// No server listens at the address.
    case refused
    /// The connection ended before the answer did.
    case reset
    /// The call's deadline passed.
    case timeout
    /// The answer was not HTTP.
    case brokenHTTP
    /// The TLS handshake failed, or the other side is not the right server.
    case tls
    /// The backend's name has no address.
    case nameNotFound
    /// The proxy on the way does not accept our credentials (407).
    case proxyRefused

    /// The word for it in metrics and logs.
    public var label: String {
        switch self {
        case .refused: "refused"
        case .reset: "reset"
        case .timeout: "timeout"
        case .brokenHTTP: "broken-http"
        case .tls: "tls"
        case .nameNotFound: "name-not-found"
        case .proxyRefused: "proxy-refused"
        }
    }

    /// The words for it in records.
    public var word: String {
        switch self {
        case .refused: "connection refused"
        case .reset: "connection reset"
        case .timeout: "timeout"
        case .brokenHTTP: "broken HTTP"
        case .tls: "TLS failure"
        case .nameNotFound: "name not found"
        case .proxyRefused: "refused by the proxy"
        }
    }

    /// Whether the call was written, so that the backend may have executed it.
    public var mayHaveArrived: Bool {
        switch self {
        case .reset, .timeout, .brokenHTTP: true
        case .refused, .tls, .nameNotFound, .proxyRefused: false
        }
    }
}
