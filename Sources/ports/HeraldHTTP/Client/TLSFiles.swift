internal import CSSL
public import HeraldTime

/// The files (PEM) that TLS needs; without them the system's authorities are trusted and no certificate is shown.
public struct TLSFiles: Sendable, Hashable {
    /// The authorities that are trusted instead of the system's.
    public var caFile: String?
    /// The certificate that Herald shows, with the chain above it.
    public var certificateFile: String?
    /// The certificate's private key; without it the key is expected in the certificate's file.
    public var keyFile: String?

    /// The named files.
    public init(caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
        self.caFile = caFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// One of the files.
    public enum Part: Sendable, Hashable {
        /// The authorities.
        case authorities
        /// The certificate.
        case certificate
        /// The private key.
        case key
    }

    /// What is wrong with one of the files.
    public struct Mistake: Sendable, Hashable {
        /// Which file.
        public let part: Part
        /// What is wrong, to stand behind the file's name.
        public let message: String
    }

    /// What a connection would fail of, found without one: files that hold no PEM, or a key that is another's.
    ///
    /// Blocks while the files are read.
    public func mistakes() -> [Mistake] {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return [] }
        defer {
            SSL_CTX_free(context)
            ERR_clear_error()
        }
        // There is no user to ask for a key's password.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        var mistakes: [Mistake] = []
        if let caFile, SSL_CTX_load_verify_file(context, caFile) != 1 {
            mistakes.append(Mistake(part: .authorities, message: Self.sentence("holds no authorities in PEM")))
        }
        guard let certificateFile else { return mistakes }
        if SSL_CTX_use_certificate_chain_file(context, certificateFile) != 1 {
            mistakes.append(Mistake(part: .certificate, message: Self.sentence("holds no certificate in PEM")))
        }
        guard let keyFile else { return mistakes }
        if SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) != 1 {
            let isAnothers = mistakes.isEmpty && Self.isMismatch()
            let message =
                isAnothers
                ? "holds the key of another certificate"
                : "holds no private key in PEM that is readable without a password"
            mistakes.append(Mistake(part: .key, message: Self.sentence(message)))
        }
        return mistakes
    }

    /// When the certificate in its file ends; `nil` when there is none that can be read.
    ///
    /// Blocks while the file is read.
    public func certificateEnd() -> WallTime? {
        guard let certificateFile, let context = SSL_CTX_new(TLS_client_method()) else { return nil }
        defer {
            SSL_CTX_free(context)
            ERR_clear_error()
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1,
            let certificate = SSL_CTX_get0_certificate(context)
        else { return nil }
        let seconds = herald_ssl_ends_at(certificate)
        return seconds < 0 ? nil : WallTime(milliseconds: seconds * 1_000)
    }

    private static func isMismatch() -> Bool {
        // The library's part of the code stands above it.
        ERR_peek_last_error() & 0x7F_FFFF == UInt(X509_R_KEY_VALUES_MISMATCH)
    }

    /// The message, with OpenSSL's reason for it.
    private static func sentence(_ message: String) -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard let reason = ERR_reason_error_string(code) else { return message }
        return "\(message) (\(String(cString: reason)))"
    }
}
