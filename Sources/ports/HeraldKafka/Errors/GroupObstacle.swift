/// A permanent obstacle to joining a group, which only a changed setting removes.
public struct GroupObstacle: Sendable, Equatable {
    /// The cause, for the middle of a sentence.
    public var what: String
    /// The remedy, for the middle of a sentence.
    public var remedy: String

    /// Both in one sentence, which begins with a capital letter.
    public var sentence: String { "\(what.prefix(1).uppercased())\(what.dropFirst()): \(remedy)." }
}

extension GroupObstacle {
    /// The reason that the group's coordinator rejects this member at every attempt; `nil` for a passing one.
    public init?(_ error: KafkaError) {
        switch error.code {
        case KafkaError.Code.invalidSessionTimeout:
            what =
                "the brokers reject the session.timeout.ms of this member (10 s, unless kafka.properties sets it)"
            remedy =
                "set it in kafka.properties to a value between the brokers' group.min.session.timeout.ms and "
                + "group.max.session.timeout.ms, or change these"
        case KafkaError.Code.groupMaxSizeReached:
            what = "the group has the most members that the brokers allow (group.max.size)"
            remedy = "raise group.max.size, or run fewer workers or lanes (delivery.lanes)"
        case KafkaError.Code.inconsistentGroupProtocol:
            what =
                "the group has a member with another protocol or partition.assignment.strategy, and rejects this one"
            remedy =
                "stop that program or give it a group.id of its own (`kafka-consumer-groups.sh --describe --members` "
                + "names it), or give all workers the same partition.assignment.strategy"
        default: return nil
        }
    }

    /// A topic in which coordinators keep their state, created by brokers when it is first needed.
    public enum Topic: String, Sendable {
        /// The groups' topic.
        case groups = "__consumer_offsets"
        /// The transactions' topic.
        case transactions = "__transaction_state"

        fileprivate var replication: String {
            switch self {
            case .groups: "offsets.topic.replication.factor"
            case .transactions: "transaction.state.log.replication.factor"
            }
        }
    }

    /// The reason that there is no coordinator; `nil` when its topic exists and has its leaders, or may not be
    /// seen.
    public init?(_ topic: Topic, in metadata: ClusterMetadata) {
        guard let found = metadata.topics.first(where: { $0.name == topic.rawValue }) else { return nil }
        let whose = topic == .groups ? "the group" : "Herald's transactions"
        let brokers = metadata.brokers.count
        if found.error?.code == KafkaError.Code.unknownTopicOrPartition {
            what =
                "no broker coordinates \(whose), because the brokers cannot make \(topic.rawValue) (there "
                + "\(brokers == 1 ? "is 1" : "are \(brokers)"), and \(topic.replication) is 3 unless set)"
            remedy = "set \(topic.replication) to no more than there are brokers, or start more of them"
        } else if !found.leaderlessPartitions.isEmpty {
            what =
                "\(whose) may have no coordinator, because \(found.leaderlessPartitions.count) of "
                + "\(found.partitions.count) partitions of \(topic.rawValue) have no leader"
            remedy = "bring a broker back that has a copy of them"
        } else {
            return nil
        }
    }
}

extension ClusterMetadata.Topic {
    /// The broker that coordinates the group, or the transactions, of this name; `nil` while there is none.
    ///
    /// - Precondition: this is one of ``GroupObstacle/Topic``: brokers choose a partition by Java's hash of the name.
    public func coordinator(of name: String) -> Int32? {
        guard !partitions.isEmpty else { return nil }
        let hash = name.utf16.reduce(Int32(0)) { $0 &* 31 &+ Int32($1) }
        let partition = hash == .min ? 0 : abs(hash) % Int32(partitions.count)
        return partitions.first { $0.id == partition }?.leader
    }
}
