/// The reason why a call has no HTTP answer: a notification, a request for a token, a probe of the doctor.
public enum FailureKind: String, Sendable, CaseIterable {
    /// No server listens at the address.
    case connectionRefused
    /// The connection ended before the answer did.
    case connectionReset
    /// The call's deadline passed.
    case timeout
    /// The answer is no HTTP, or breaks a limit.
    case brokenHTTP
    /// TLS failed: a certificate was refused by either side, or the two do not agree.
    case tls
    /// The host's name, or the proxy's, is unknown.
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
    /// Whether this machine lacks a resource for connections (descriptors, memory), and no other machine is at fault.
    var isLocal = false

    func with(_ fragment: String?) -> Failure {
        guard let fragment else { return self }
        return Failure(kind: kind, detail: "\(detail): \(fragment)", isLocal: isLocal)
    }

    static var noHTTP2: Failure {
        Failure(kind: .connectFailed, detail: "the other side did not agree to HTTP/2 (ALPN)")
    }

    static var noGreeting: Failure { Failure(kind: .timeout, detail: "no greeting in time") }

    /// A connection over HTTP/2 fell silent, without even an answer to PING.
    static var silent: Failure { Failure(kind: .connectionReset, detail: "the connection fell silent") }

    static var goneAway: Failure { Failure(kind: .connectionReset, detail: "the other side ended the connection") }

    static var noStream: Failure { Failure(kind: .connectionReset, detail: "the connection takes no more calls") }

    /// A connection that carried no call ended, or spoke unasked.
    static var closedWhileIdle: Failure {
        Failure(kind: .connectionReset, detail: "connection closed while it was idle")
    }
}
