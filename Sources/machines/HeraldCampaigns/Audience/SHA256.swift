internal import CSSL

/// SHA-256 of many short texts: libcrypto's context, made once and used again and again.
///
/// Owns both pointers and frees them. One thread.
package final class SHA256 {
    static let byteCount = 32

    private let context: OpaquePointer
    private let algorithm: OpaquePointer
    private var digest = [UInt8](repeating: 0, count: SHA256.byteCount)

    init() {
        // Without memory, or without SHA-256 in the library, nothing of this could go on.
        guard let context = EVP_MD_CTX_new(), let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("libcrypto has no SHA-256")
        }
        self.context = context
        self.algorithm = algorithm
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    /// The digest of these bytes alone, in hexadecimal digits.
    package static func hex(of bytes: [UInt8]) -> String {
        let hash = SHA256()
        _ = hash.half(of: bytes)
        return hash.digest.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// The digest's first 16 bytes, as two numbers with the first byte on top.
    func half(of bytes: [UInt8]) -> (high: UInt64, low: UInt64) {
        let isDone = bytes.withUnsafeBytes { bytes in
            EVP_DigestInit_ex2(context, algorithm, nil) == 1
                && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(context, &digest, nil) == 1
        }
        precondition(isDone, "libcrypto cannot hash")
        return digest.withUnsafeBytes { digest in
            (
                UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
