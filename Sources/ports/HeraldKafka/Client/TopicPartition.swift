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

/// Places in a partition that are not a number.
public enum Offset {
    /// The earliest record there is.
    public static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)
    /// After the latest record.
    public static let end = Int64(RD_KAFKA_OFFSET_END)
    /// What the group has committed, or else what `auto.offset.reset` says.
    public static let stored = Int64(RD_KAFKA_OFFSET_STORED)
    /// None: what ``Consumer/committed(_:timeout:)`` says of a partition without a commit.
    public static let none = Int64(RD_KAFKA_OFFSET_INVALID)
}

/// What a group remembers of a partition: where to go on, and a note.
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

/// What the group has decided about this member, noted while polling and not yet answered.
public enum Rebalance: Sendable, Equatable {
    /// These partitions are now this member's: answer with ``Consumer/assign(_:)``.
    case assign([TopicPartition])
    /// All partitions are taken away: finish, then answer with ``Consumer/unassign()``; the group waits for it.
    ///
    /// `lost`: they belong to another member already, nothing may be committed any more.
    case revoke([TopicPartition], lost: Bool)
}

extension [TopicPartition] {
    /// How many they are, in words.
    package var counted: String { count == 1 ? "1 partition" : "\(count) partitions" }

    /// Their names, and of many how many more there are.
    package var names: String { map(\.description).firstNames }
}

extension [String] {
    /// The first five, and of many how many more there are.
    package var firstNames: String {
        let shown = prefix(5).joined(separator: ", ")
        return count > 5 ? "\(shown) and \(count - 5) more" : shown
    }
}
