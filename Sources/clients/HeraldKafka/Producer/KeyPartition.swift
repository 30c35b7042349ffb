internal import CRDKafka

/// Where a key's records lie.
public enum KeyPartition {
    /// The partition that Java's producer and ours choose for a key (murmur2).
    ///
    /// - Parameter count: how many partitions the topic has, at least 1.
    public static func murmur2(of key: [UInt8], count: Int) -> Int32 {
        // Neither the topic nor the opaques are looked at.
        rd_kafka_msg_partitioner_murmur2(nil, key, key.count, Int32(clamping: count), nil, nil)
    }
}
