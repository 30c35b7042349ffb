/// A keyed 64-bit hash of bytes for tables inside one process: SipHash-1-3.
///
/// Without the seed a publisher cannot choose users that share a bucket, or events that collide. The seed is the first
/// half of the key, and the second is derived from it. Hashes by a process's seed must not leave the process; those of the
/// seed 0 stand in records of caps, so that seed's must stay as they are.
struct ByteHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(key: (UInt64, UInt64)) {
        v0 = key.0 ^ 0x736F_6D65_7073_6575
        v1 = key.1 ^ 0x646F_7261_6E64_6F6D
        v2 = key.0 ^ 0x6C79_6765_6E65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    init(seed: UInt64) {
        let product = (seed ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        self.init(key: (seed, product.high ^ product.low))
    }

    /// The hash of the bytes: SipHash as it is published, with its padding.
    static func hash(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
        hash(bytes, with: Self(seed: seed))
    }

    /// The hash of the bytes by a fresh `hasher`.
    static func hash(_ bytes: RawSpan, with hasher: Self) -> UInt64 {
        var hasher = hasher
        let tail = hasher.addWords(of: bytes)
        hasher.add(tail | UInt64(truncatingIfNeeded: bytes.byteCount) << 56)
        return hasher.finish()
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    /// Adds a field, its length first, so that it cannot be confused with parts of its neighbours.
    mutating func add(field: RawSpan) {
        add(UInt64(field.byteCount))
        let tail = addWords(of: field)
        if field.byteCount & 7 != 0 { add(tail) }
    }

    consuming func finish() -> UInt64 {
        v2 ^= 0xFF
        round()
        round()
        round()
        return v0 ^ v1 ^ v2 ^ v3
    }

    /// Adds the whole words of the bytes and returns the remaining ones, fewer than eight.
    @inline(__always)
    private mutating func addWords(of bytes: RawSpan) -> UInt64 {
        var offset = 0
        while offset &+ 8 <= bytes.byteCount {
            add(UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        let left = bytes.byteCount &- offset
        if left > 0, offset > 0 {
            // The last eight bytes, without those already added.
            let last = bytes.unsafeLoadUnaligned(fromByteOffset: bytes.byteCount &- 8, as: UInt64.self)
            return UInt64(littleEndian: last) &>> UInt64(64 &- 8 &* left)
        }
        var tail: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.byteCount {
            tail |= UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) &<< shift
            shift &+= 8
            offset &+= 1
        }
        return tail
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v2 &+= v3
        v1 = rotated(v1, 13) ^ v0
        v3 = rotated(v3, 16) ^ v2
        v0 = rotated(v0, 32)
        v2 &+= v1
        v0 &+= v3
        v1 = rotated(v1, 17) ^ v2
        v3 = rotated(v3, 21) ^ v0
        v2 = rotated(v2, 32)
    }

    @inline(__always)
    private func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value &<< bits | value &>> (64 &- bits)
    }
}
