internal import CRDKafka

/// One partition of one topic.
public struct TopicPartition: Hashable, Sendable, CustomStringConvertible {
    /// The topic's name.
    public var topic: String
    /// The partition's number, from 0.
    public var partition: Int32

    /// The partition with this number of this topic.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// `topic/partition`.
    public var description: String { "\(topic)/\(partition)" }
}

/// Places in a partition that are not numbers.
public enum Offset {
    /// The earliest record.
    public static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)
    /// The place after the latest record.
    public static let end = Int64(RD_KAFKA_OFFSET_END)
    /// The group's committed offset, or else the place that `auto.offset.reset` names.
    public static let stored = Int64(RD_KAFKA_OFFSET_STORED)
    /// None: the answer of ``Consumer/committed(_:timeout:)`` for a partition without a commit.
    public static let none = Int64(RD_KAFKA_OFFSET_INVALID)
}

/// A group's position in a partition: the offset to resume at, and a note.
public struct CommitPosition: Sendable, Equatable {
    /// The partition.
    public var partition: TopicPartition
    /// The offset of the next record to consume, or ``Offset/none``.
    public var offset: Int64
    /// A note kept with the offset: ASCII, at most 4096 characters by a broker's default; empty for none.
    public var metadata: String

    /// The position before the record at `offset`.
    public init(partition: TopicPartition, offset: Int64, metadata: String = "") {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// A decision of the group about this member, noted while polling and not yet answered.
public enum Rebalance: Sendable, Equatable {
    /// These partitions now belong to this member: answer with ``Consumer/assign(_:)``.
    case assign([TopicPartition])
    /// All partitions are revoked: finish, then answer with ``Consumer/unassign()``; the group waits for it.
    ///
    /// `lost`: they already belong to another member, so nothing may be committed any more.
    case revoke([TopicPartition], lost: Bool)
}

extension [TopicPartition] {
    package var counted: String { count == 1 ? "1 partition" : "\(count) partitions" }

    /// The first five names, and the number of the others.
    package var names: String { map(\.description).firstNames }
}

extension [String] {
    /// The first five, and the number of the others.
    package var firstNames: String {
        let shown = prefix(5).joined(separator: ", ")
        return count > 5 ? "\(shown) and \(count - 5) more" : shown
    }
}
