/// A quick 64-bit hash of bytes for tables inside one process; not for anything that leaves it.
///
/// Eight bytes at a time are folded in by a full 64 × 64 bit multiplication, as in the wyhash family. The seed keeps
/// a sender from choosing users that share a bucket.
enum ByteHash {
    static func hash(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
        var state = seed ^ UInt64(truncatingIfNeeded: bytes.byteCount)
        var offset = 0
        while offset &+ 8 <= bytes.byteCount {
            state = fold(
                state ^ bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self), 0x9E37_79B9_7F4A_7C15)
            offset &+= 8
        }
        var tail: UInt64 = 0
        while offset < bytes.byteCount {
            tail = tail << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset &+= 1
        }
        return fold(state ^ tail, 0xD6E8_FEB8_6659_FD93)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
