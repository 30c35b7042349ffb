import CSSL
import Foundation

/// The certificates that a TLS server shows and accepts.
public struct ServerIdentity: Sendable {
    /// The certificate's file (PEM).
    public var certificateFile: String
    /// Its private key's file (PEM).
    public var keyFile: String
    /// The authority whose clients are admitted; without one, all are.
    public var clientAuthorityFile: String?
    /// Whether it agrees to HTTP/2 with clients that offer it.
    public var agreesToHTTP2 = false

    /// An identity in files.
    public init(certificateFile: String, keyFile: String, clientAuthorityFile: String? = nil) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.clientAuthorityFile = clientAuthorityFile
    }

    /// The same, for a server that speaks HTTP/2.
    public var withHTTP2: Self {
        var copy = self
        copy.agreesToHTTP2 = true
        return copy
    }
}

/// OpenSSL's settings of a server; owns the C object, which any thread may use.
final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    init(_ identity: ServerIdentity) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw POSIXError(.ENOMEM) }
        self.context = context
        guard SSL_CTX_use_certificate_chain_file(context, identity.certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(context, identity.keyFile, SSL_FILETYPE_PEM) == 1
        else { throw POSIXError(.EINVAL) }
        if let file = identity.clientAuthorityFile {
            guard SSL_CTX_load_verify_locations(context, file, nil) == 1 else { throw POSIXError(.EINVAL) }
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        if identity.agreesToHTTP2 { agreeToHTTP2() }
    }

    private func agreeToHTTP2() {
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenCount, offered, offeredCount, _ in
                guard let offered, let chosen, let chosenCount else { return SSL_TLSEXT_ERR_NOACK }
                // Names prefixed with their lengths.
                var place = 0
                while place < Int(offeredCount) {
                    let count = Int(offered[place])
                    let name = UnsafeBufferPointer(start: offered + place + 1, count: count)
                    if name.elementsEqual("h2".utf8) {
                        chosen.pointee = offered + place + 1
                        chosenCount.pointee = UInt8(count)
                        return SSL_TLSEXT_ERR_OK
                    }
                    place += count + 1
                }
                return SSL_TLSEXT_ERR_NOACK
            }, nil)
    }

    deinit {
        SSL_CTX_free(context)
    }

    func accept(_ socket: Int32) -> OpaquePointer? {
        guard let tls = SSL_new(context) else { return nil }
        if SSL_set_fd(tls, socket) == 1, SSL_accept(tls) == 1 { return tls }
        SSL_free(tls)
        return nil
    }
}
