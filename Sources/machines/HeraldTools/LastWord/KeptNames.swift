internal import CSSL
internal import HeraldBytes
internal import HeraldEvents
package import HeraldText

/// The keys under which an opt-out outlives its user's erasure: a hash of the user that only the secret's owner can make.
package struct KeptNames: Sendable {
    /// In bytes; a shorter one can be guessed, and then names can.
    package static let shortestSecret = 16

    private let secret: Secret

    package init(_ secret: Secret) { self.secret = secret }

    /// A user's key: `hash:` and HMAC-SHA256 of the user in hexadecimal digits.
    package func key(of user: RawSpan) -> [UInt8] {
        let secret = Array(secret.reveal().utf8)
        var text: [UInt8] = []
        text.append(copying: user)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let isDone = HMAC(EVP_sha256(), secret, Int32(secret.count), text, text.count, &digest, &count) != nil
        precondition(isDone, "libcrypto has no HMAC with SHA-256")
        var key = Array(Preference.keptPrefix.utf8)
        for byte in digest.prefix(Int(count)) { key += String(UInt16(byte) + 0x100, radix: 16).utf8.dropFirst() }
        return key
    }
}
