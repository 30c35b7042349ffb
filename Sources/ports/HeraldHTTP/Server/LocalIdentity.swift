internal import CSSL
internal import Glibc
public import HeraldThreads

/// A certificate for this machine alone, for servers of tests and demonstrations.
///
/// It is made for `localhost`, `127.0.0.1` and `::1` and is good for ninety days (EC P-256). The authority that signed it
/// signs nothing else: its key is thrown away at once.
public struct LocalIdentity: Sendable, CustomStringConvertible, CustomReflectable {
    /// The authority's certificate (PEM), which clients have to trust.
    public let authority: String
    let certificate: String
    let key: String

    private static let names = "DNS:localhost,IP:127.0.0.1,IP:::1"
    private static let days: Int32 = 90

    /// Makes a certificate and its authority; throws when libcrypto cannot.
    public init() throws(SystemError) {
        var made = herald_ssl_local_identity()
        guard herald_ssl_local_identity_make("localhost", Self.names, Self.days, &made) == 1,
            let authority = made.authority, let certificate = made.certificate, let key = made.key
        else { throw SystemError(call: "libcrypto made no certificate for localhost", number: 0) }
        defer { herald_ssl_local_identity_free(&made) }
        self.authority = String(cString: authority)
        self.certificate = String(cString: certificate)
        self.key = String(cString: key)
    }

    /// Writes the authority's certificate into a file, whose former content is replaced.
    public func writeAuthority(to path: String) throws(SystemError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemError(call: "cannot write \(path)", number: errno) }
        defer { close(descriptor) }
        let bytes = Array(authority.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemError(call: "cannot write \(path)", number: errno)
        }
    }

    /// Nothing of the key.
    public var description: String { "certificate for localhost" }
    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
