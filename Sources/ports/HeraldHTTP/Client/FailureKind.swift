/// Why a call has no answer.
public enum FailureKind: String, Sendable, CaseIterable {
    /// No server listens at the address.
    case connectionRefused
    /// The connection ended before the answer did.
    case connectionReset
    /// The call's deadline passed.
    case timeout
    /// What came is no HTTP/1.x answer, or breaks a limit.
    case brokenHTTP
    /// TLS failed: a certificate was refused by either side, or the two do not agree.
    case tls
    /// The host's name, or the proxy's, is not known.
    case nameNotFound
    /// The proxy does not accept the credentials for it (407).
    case proxyRefused
    /// No connection for another reason: no route, a proxy that makes no tunnel.
    case connectFailed
}

/// A failure with one line for people.
struct Failure: Equatable {
    var kind: FailureKind
    var detail: String
    /// Whether this machine lacks what a connection needs (descriptors, memory), and no other machine is to blame.
    var isLocal = false

    /// A connection that carried no call ended, or spoke unasked.
    static var closedWhileIdle: Failure {
        Failure(kind: .connectionReset, detail: "connection closed while it was idle")
    }
}
