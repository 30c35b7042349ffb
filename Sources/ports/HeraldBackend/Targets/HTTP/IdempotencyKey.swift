internal import CSSL
internal import HeraldBytes

/// The value of `Idempotency-Key`: what tells two notifications apart.
///
/// `id:user:pns`, or `id:user:source:pns` for an event with a source. Whatever is not unreserved (RFC 3986) or `/` is
/// percent-encoded in each part, so that a colon always separates two of them, and no two notifications share a key. A
/// key that would be longer than 128 bytes is `sha256:` and the hexadecimal digest of the long one.
package enum IdempotencyKey {
    static let limit = 128
    private static let digestByteCount = 32

    package static func append(
        id: RawSpan, user: RawSpan, source: RawSpan?, pushService: RawSpan, to output: inout [UInt8]
    ) {
        let start = output.count
        PercentEncoding.appendPath(id, to: &output)
        output.append(UInt8(ascii: ":"))
        PercentEncoding.appendPath(user, to: &output)
        output.append(UInt8(ascii: ":"))
        if let source {
            PercentEncoding.appendPath(source, to: &output)
            output.append(UInt8(ascii: ":"))
        }
        PercentEncoding.appendPath(pushService, to: &output)
        if output.count - start > limit { shorten(from: start, in: &output) }
    }

    private static func shorten(from start: Int, in output: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: digestByteCount) { digest in
            let isDone = output.withUnsafeBytes { bytes in
                herald_sha256(bytes.baseAddress.map { $0 + start }, bytes.count - start, digest.baseAddress) == 1
            }
            precondition(isDone, "libcrypto has no SHA-256")
            output.removeLast(output.count - start)
            output.append(text: "sha256:")
            for byte in digest { output.append(hexadecimal: byte) }
        }
    }
}
