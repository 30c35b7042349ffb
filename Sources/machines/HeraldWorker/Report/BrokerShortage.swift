import HeraldKafka
import HeraldTime

/// Which partitions cannot be written or read because too few of their brokers answer, and since when: pure.
///
/// A write needs as many brokers as the topic's `min.insync.replicas` says. With fewer, the brokers that are up answer
/// each request, but fetches return nothing new, and no outcome ever becomes durable.
struct BrokerShortage: Sendable {
    /// A broker that restarts, or a leader that moves, is no shortage while another broker with copies answers.
    static let patience: Milliseconds = .seconds(15)

    private var since: [TopicPartition: MonotonicTime] = [:]

    /// Takes what the cluster says of its topics, and which brokers did not answer.
    ///
    /// - Parameters:
    ///   - copies: how many brokers a topic's records have to reach; `nil` where that is not known, which then means one.
    /// - Returns: the partitions that have been out of use for longer than the patience, or at all while no broker with
    ///   copies answers, in the order of the topics. A partition without a leader is not among them: the cluster says so
    ///   itself.
    mutating func look(
        at topics: [ClusterMetadata.Topic], silent: Set<Int32>, copies: (String) -> Int?, now: MonotonicTime
    ) -> [TopicPartition] {
        let isAnyLeft = topics.contains { topic in
            topic.partitions.contains { !silent.isSuperset(of: $0.replicas) }
        }
        var seen: [TopicPartition: MonotonicTime] = [:]
        var lasting: [TopicPartition] = []
        for topic in topics {
            let wanted = copies(topic.name) ?? 1
            for partition in topic.partitions where Self.isOut(partition, silent: silent, copies: wanted) {
                let place = TopicPartition(topic: topic.name, partition: partition.id)
                let begin = since[place] ?? now
                seen[place] = begin
                if !isAnyLeft || now.time(since: begin) >= Self.patience { lasting.append(place) }
            }
        }
        since = seen
        return lasting
    }

    private static func isOut(_ partition: ClusterMetadata.Partition, silent: Set<Int32>, copies: Int) -> Bool {
        guard let leader = partition.leader else { return false }
        let answering = partition.replicas.count { !silent.contains($0) }
        // More copies than there can be are a mistake of the settings, whichever brokers answer.
        return silent.contains(leader) || answering < min(copies, partition.replicas.count)
    }
}
