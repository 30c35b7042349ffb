import HeraldKafka
import HeraldTime

/// Which partitions cannot be written or read because too few of their brokers answer, and since when: pure.
///
/// A write needs as many brokers as the topic's `min.insync.replicas` says. With fewer, the brokers that are up answer
/// each request, but fetches return nothing new, and no outcome ever becomes durable.
struct BrokerShortage: Sendable {
    /// A leader that moves is no shortage while another broker with copies answers.
    static let patience: Milliseconds = .seconds(15)
    /// Where brokers have to come back, because no leader can move to make up for them: a restart takes less.
    static let restartPatience: Milliseconds = .seconds(6)

    private var since: [TopicPartition: MonotonicTime] = [:]
    private var silentSince: MonotonicTime?

    /// Whether something is out of use, be it for a short time: the next look should come soon.
    var isCounting: Bool { silentSince != nil || !since.isEmpty }

    /// Notes that no broker answers at all.
    ///
    /// - Parameter heard: when one may have answered last: the beginning of the questions that had no answer.
    /// - Returns: whether that has been so for longer than a restart takes.
    mutating func hearNothing(since heard: MonotonicTime, now: MonotonicTime) -> Bool {
        let begin = silentSince ?? heard
        silentSince = begin
        return now.time(since: begin) >= Self.restartPatience
    }

    /// Takes what the cluster says of its topics, and which brokers did not answer.
    ///
    /// - Parameters:
    ///   - copies: how many brokers a topic's records have to reach; `nil` where that is not known, which then means one.
    /// - Returns: the partitions that have been out of use for longer than the patience, which is shorter where too few
    ///   brokers with copies answer, in the order of the topics. A partition without a leader is not among them: the
    ///   cluster says so itself.
    mutating func look(
        at topics: [ClusterMetadata.Topic], silent: Set<Int32>, copies: (String) -> Int?, now: MonotonicTime
    ) -> [TopicPartition] {
        silentSince = nil
        let isAnyLeft = topics.contains { topic in
            topic.partitions.contains { !silent.isSuperset(of: $0.replicas) }
        }
        var seen: [TopicPartition: MonotonicTime] = [:]
        var lasting: [TopicPartition] = []
        for topic in topics {
            let wanted = copies(topic.name) ?? 1
            for partition in topic.partitions {
                guard let leader = partition.leader else { continue }
                let lacksCopies = !isAnyLeft || Self.lacksCopies(partition, silent: silent, copies: wanted)
                guard lacksCopies || silent.contains(leader) else { continue }
                let place = TopicPartition(topic: topic.name, partition: partition.id)
                let begin = since[place] ?? now
                seen[place] = begin
                let patience = lacksCopies ? Self.restartPatience : Self.patience
                if now.time(since: begin) >= patience { lasting.append(place) }
            }
        }
        since = seen
        return lasting
    }

    private static func lacksCopies(
        _ partition: ClusterMetadata.Partition, silent: Set<Int32>, copies: Int
    ) -> Bool {
        let answering = partition.replicas.count { !silent.contains($0) }
        // More copies than there can be are a mistake of the settings, whichever brokers answer.
        return answering < min(copies, partition.replicas.count)
    }
}
