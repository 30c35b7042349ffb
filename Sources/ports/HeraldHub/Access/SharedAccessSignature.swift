internal import CSSL
internal import Foundation
internal import HeraldBytes
public import HeraldText

/// A token of Azure's shared access signatures: `SharedAccessSignature sr=…&sig=…&se=…&skn=…`.
///
/// The signed text is the audience as in `sr`, a line feed and the end in seconds of Unix time; the key is the UTF-8 of
/// its text, never decoded.
public struct SharedAccessSignature: Sendable, Hashable {
    /// The audience, percent-encoded, as it was signed.
    public let encodedAudience: String
    /// The signature in Base64.
    public let signature: String
    /// The end of the token, in seconds of Unix time.
    public let expiresAt: Int64
    /// The name of the key.
    public let keyName: String

    private static let scheme = "SharedAccessSignature "

    /// Signs a token for everything below a namespace.
    ///
    /// - Parameter expiresAt: seconds of Unix time.
    public init(for string: HubConnectionString, expiresAt: Int64) {
        let audience = "https://\(string.authority)\(string.basePath)/".lowercased()
        self.init(
            encodedAudience: PercentEncoding.encoded(audience), expiresAt: expiresAt, keyName: string.keyName,
            key: string.key)
    }

    /// Signs a token for an audience that is encoded already.
    public init(encodedAudience: String, expiresAt: Int64, keyName: String, key: Secret) {
        self.encodedAudience = encodedAudience
        signature = Self.sign(encodedAudience, expiresAt, key)
        self.expiresAt = expiresAt
        self.keyName = keyName
    }

    /// Reads the value of a header `Authorization`; `nil` for anything but such a token.
    ///
    /// The fields may come in any order.
    public init?(authorization: String) {
        guard authorization.hasPrefix(Self.scheme) else { return nil }
        var fields: [Substring: String] = [:]
        for field in authorization.dropFirst(Self.scheme.count).split(separator: "&") {
            guard let equals = field.firstIndex(of: "=") else { return nil }
            let value = String(field[field.index(after: equals)...])
            guard fields.updateValue(value, forKey: field[..<equals]) == nil else { return nil }
        }
        guard let audience = fields["sr"], let signature = fields["sig"]?.removingPercentEncoding,
            let expiresAt = fields["se"].flatMap({ Int64($0) }), let name = fields["skn"]?.removingPercentEncoding
        else { return nil }
        encodedAudience = audience
        self.signature = signature
        self.expiresAt = expiresAt
        keyName = name
    }

    /// The value of the header `Authorization`.
    public var authorization: String {
        "\(Self.scheme)sr=\(encodedAudience)&sig=\(PercentEncoding.encoded(signature))&se=\(expiresAt)"
            + "&skn=\(PercentEncoding.encoded(keyName))"
    }

    /// Whether the key made the signature.
    public func isSigned(with key: Secret) -> Bool {
        let expected = Array(Self.sign(encodedAudience, expiresAt, key).utf8)
        let found = Array(signature.utf8)
        return expected.count == found.count && CRYPTO_memcmp(expected, found, found.count) == 0
    }

    private static func sign(_ audience: String, _ expiresAt: Int64, _ key: Secret) -> String {
        let text = Array("\(audience)\n\(expiresAt)".utf8)
        let key = Array(key.reveal().utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let isDone = HMAC(EVP_sha256(), key, Int32(key.count), text, text.count, &digest, &count) != nil
        precondition(isDone, "libcrypto has no HMAC with SHA-256")
        return Data(digest.prefix(Int(count))).base64EncodedString()
    }
}
