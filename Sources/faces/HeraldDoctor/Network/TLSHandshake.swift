internal import CSSL
internal import Glibc

/// A TLS handshake that is made only to look at the other side's certificate, also at one that is not to be trusted.
struct TLSHandshake {
    struct Trust: Sendable, Equatable {
        /// A file or a directory with authorities; `nil` for the system's.
        var authorities: String?
        var authoritiesText: String?
        /// A certificate and its key to show, as PEM files.
        var certificateFile: String?
        var keyFile: String?
        /// Whether the certificate must be for the host's name.
        var checksName = true
    }

    enum Outcome: Sendable, Equatable {
        /// There is no certificate to look at, and why.
        case failed(String)
        case certificate(Certificate)
    }

    struct Certificate: Sendable, Equatable {
        /// Until when it is valid, in seconds since the Unix epoch.
        var expiresAt: Int64
        /// What it is for, such as `DNS:a.example`.
        var names: String
        /// Why it is not to be trusted; `nil` when it is.
        var distrust: Distrust?
    }

    /// Why a certificate is not to be trusted.
    struct Distrust: Sendable, Equatable {
        enum Kind: Sendable {
            case expired
            case notYetValid
            case wrongName
            case unknownAuthority
            case other
        }

        var kind: Kind
        var reason: String
    }

    /// Makes the handshake over a connected socket, which stays open.
    ///
    /// Blocks, with the socket's time-outs.
    static func perform(_ descriptor: Int32, host: String, trust: Trust) -> Outcome {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { return .failed(lastError("no memory")) }
        defer { SSL_CTX_free(context) }
        if let mistake = configure(context, trust) { return .failed(mistake) }
        guard let tls = SSL_new(context) else { return .failed(lastError("no memory")) }
        defer { SSL_free(tls) }
        let isAddress = expect(host, of: tls, trust)
        // SNI carries names only.
        if !isAddress { _ = herald_ssl_set_server_name(tls, host) }
        // What is wrong with the certificate is wanted, not the end of the handshake.
        SSL_set_verify(tls, SSL_VERIFY_NONE, nil)
        guard SSL_set_fd(tls, descriptor) == 1, SSL_connect(tls) == 1 else {
            let isSilent = errno == EAGAIN || errno == EWOULDBLOCK
            return .failed(lastError(isSilent ? "no answer in time" : "the connection was closed"))
        }
        guard let certificate = SSL_get1_peer_certificate(tls) else { return .failed("no certificate was shown") }
        defer { X509_free(certificate) }
        return .certificate(
            Certificate(
                expiresAt: seconds(X509_get0_notAfter(certificate)), names: names(certificate),
                distrust: distrust(SSL_get_verify_result(tls))))
    }

    private static func configure(_ context: OpaquePointer, _ trust: Trust) -> String? {
        if let text = trust.authoritiesText {
            guard herald_ssl_trust(context, text) > 0 else { return "ssl.ca.pem holds no certificate" }
        } else if let path = trust.authorities, path != "probe" {
            var status = stat()
            let isDirectory = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            guard SSL_CTX_load_verify_locations(context, isDirectory ? nil : path, isDirectory ? path : nil) == 1 else {
                return "the authorities in \(path) cannot be read: \(lastError("no certificate"))"
            }
        } else {
            SSL_CTX_set_default_verify_paths(context)
        }
        // Without a certificate that can be read here, the handshake still shows the other side's.
        if let file = trust.certificateFile {
            SSL_CTX_use_certificate_chain_file(context, file)
            SSL_CTX_use_PrivateKey_file(context, trust.keyFile ?? file, SSL_FILETYPE_PEM)
            ERR_clear_error()
        }
        return nil
    }

    /// Sets the name that the certificate must be for; whether that is an address.
    private static func expect(_ host: String, of tls: OpaquePointer, _ trust: Trust) -> Bool {
        var buffer = in6_addr()
        let isAddress = inet_pton(AF_INET, host, &buffer) == 1 || inet_pton(AF_INET6, host, &buffer) == 1
        guard trust.checksName else { return isAddress }
        if isAddress {
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host)
        } else {
            SSL_set1_host(tls, host)
        }
        return isAddress
    }

    private static func distrust(_ code: Int) -> Distrust? {
        guard code != X509_V_OK else { return nil }
        let kind: Distrust.Kind =
            switch Int32(clamping: code) {
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
                .unknownAuthority
            default: .other
            }
        return Distrust(kind: kind, reason: String(cString: X509_verify_cert_error_string(code)))
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = tm()
        return ASN1_TIME_to_tm(time, &parts) == 1 ? Int64(timegm(&parts)) : 0
    }

    private static func names(_ certificate: OpaquePointer) -> String {
        var text = [CChar](repeating: 0, count: 512)
        herald_ssl_names(certificate, &text, Int32(text.count))
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    private static func lastError(_ otherwise: String) -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return otherwise }
        return String(cString: reason)
    }
}
