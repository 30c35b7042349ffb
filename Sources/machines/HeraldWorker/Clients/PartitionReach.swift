import HeraldKafka
import HeraldThreads
import HeraldTime

/// The ends of partitions seen so far: where the log ended before a leader lost its end.
///
/// Lanes and the ``BrokerMonitor`` share it.
final class PartitionReach: Sendable {
    /// The time for which the former end of a shortened log is remembered: a lane asks as soon as it reads on.
    private static let memory: Milliseconds = .minutes(5)

    private struct Place {
        var end: Int64
        /// The end before the log became shorter, and the time of that discovery.
        var former: (end: Int64, at: MonotonicTime)?
    }

    private let places = Guarded<[TopicPartition: Place]>([:])

    /// Takes the present ends of partitions; those that are not among `wanted` are forgotten.
    func note(_ ends: [TopicPartition: Int64], of wanted: Set<TopicPartition>, now: MonotonicTime) {
        places.withLock { places in
            places = places.filter { wanted.contains($0.key) }
            for (partition, end) in ends {
                var place = places[partition] ?? Place(end: end)
                if end < place.end { place.former = (place.end, now) }
                place.end = end
                places[partition] = place
            }
        }
    }

    /// The farthest recent end of a partition; `nil` when it was not looked at.
    func end(of partition: TopicPartition, now: MonotonicTime) -> Int64? {
        places.withLock { $0[partition] }.map { place in
            guard let former = place.former, now.time(since: former.at) < Self.memory else { return place.end }
            return max(former.end, place.end)
        }
    }
}
