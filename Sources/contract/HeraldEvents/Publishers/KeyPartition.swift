import HeraldBytes

/// The contract's place for a key's records: the partition chosen by Java's producers, and Herald's (murmur2).
public enum KeyPartition {
    /// The partition of a key in a topic with `count` partitions, at least 1.
    public static func partition(of key: RawSpan, count: Int) -> Int32 {
        Int32(truncatingIfNeeded: hash(key) % UInt32(clamping: max(1, count)))
    }

    /// Whether the key's records belong in this partition now, or did when the topic had fewer.
    ///
    /// A topic only ever gets more partitions, and its older records stay in place.
    package static func mayLie(_ key: RawSpan, in partition: Int32, count: Int) -> Bool {
        guard partition >= 0, Int(partition) < count else { return true }
        let hash = hash(key)
        let number = UInt32(partition)
        if hash % UInt32(clamping: count) == number { return true }
        // With no more partitions than its number it would not have been there.
        return (number + 1..<UInt32(clamping: count)).contains { hash % $0 == number }
    }

    /// `org.apache.kafka.common.utils.Utils.murmur2` without the sign.
    private static func hash(_ key: RawSpan) -> UInt32 {
        let factor: UInt32 = 0x5BD1_E995
        return key.withUnsafeBytes { bytes in
            var hash = 0x9747_B28C ^ UInt32(truncatingIfNeeded: bytes.count)
            var offset = 0
            while offset + 4 <= bytes.count {
                var word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                word &*= factor
                word ^= word >> 24
                hash = (hash &* factor) ^ (word &* factor)
                offset += 4
            }
            if offset < bytes.count {
                for place in (offset..<bytes.count).reversed() {
                    hash ^= UInt32(bytes[place]) << UInt32(8 * (place - offset))
                }
                hash &*= factor
            }
            hash ^= hash >> 13
            hash &*= factor
            hash ^= hash >> 15
            return hash & 0x7FFF_FFFF
        }
    }
}
