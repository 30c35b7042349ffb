internal import HeraldTime

/// Judges a certificate: whether it is trusted, and for how long it is still valid.
struct CertificateCheck {
    /// A certificate that ends sooner is worth a look.
    static let warnDays: Int64 = 30

    private static let secondsPerDay: Int64 = 86_400

    let name: String
    let authoritySetting: String
    let now: WallTime

    /// - Parameter isVerified: whether the clients look at certificates at all.
    func check(_ outcome: TLSHandshake.Outcome, of endpoint: Endpoint, isVerified: Bool = true) -> Check {
        switch outcome {
        case .failed(let reason):
            return Check(
                name, "\(endpoint)", .failed, "no TLS handshake: \(reason)",
                fix: "check that the port speaks TLS, and the files of certificates")
        case .certificate(let certificate):
            return isVerified
                ? trusted(certificate, endpoint)
                : Check(
                    name, "\(endpoint)", .warning, "certificates are not verified: anybody can be the broker",
                    fix: "do without enable.ssl.certificate.verification")
        }
    }

    private func trusted(_ certificate: TLSHandshake.Certificate, _ endpoint: Endpoint) -> Check {
        let seconds = certificate.expiresAt - now.milliseconds / 1_000
        let days = seconds / Self.secondsPerDay
        guard let distrust = certificate.distrust else {
            let isShort = days < Self.warnDays
            return Check(
                name, "\(endpoint)", isShort ? .warning : .passed,
                "verified; the certificate expires in \(Self.counted(days, "day"))",
                fix: isShort ? "renew the certificate" : nil)
        }
        let (detail, fix): (String, String) =
            switch distrust.kind {
            case .expired:
                seconds > 0
                    ? ("an authority's certificate has expired", "renew that authority's certificate")
                    : ("the certificate expired \(Self.counted(-days, "day")) ago", "renew the certificate")
            case .notYetValid:
                ("the certificate is not valid yet", "compare the clocks of both machines")
            case .wrongName:
                (
                    "the certificate is for \(certificate.names.isEmpty ? "nobody" : certificate.names), "
                        + "not for \(endpoint.host)",
                    "reach it by a name of its certificate, or get a certificate for this name"
                )
            case .unknownAuthority:
                (
                    "the certificate is by an authority that is not trusted (\(distrust.reason))",
                    "name the file of its authority in \(authoritySetting)"
                )
            case .other: ("the certificate is refused: \(distrust.reason)", "look at the certificate with openssl")
            }
        return Check(name, "\(endpoint)", .failed, detail, fix: fix)
    }

    private static func counted(_ count: Int64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
