import HeraldKafka
import HeraldThreads
import HeraldTime

/// How far partitions have been seen to reach: where the log ended that a leader has lost the end of.
///
/// Lanes and the cluster's watch share it.
final class PartitionReach: Sendable {
    /// For so long it is remembered how far a log reached that became shorter: a lane asks as soon as it reads on.
    private static let memory: Milliseconds = .minutes(5)

    private struct Place {
        var end: Int64
        /// Where it ended before it became shorter, and when that was seen.
        var former: (end: Int64, at: MonotonicTime)?
    }

    private let places = Guarded<[TopicPartition: Place]>([:])

    /// Takes how far partitions reach now; those that are not among `wanted` are forgotten.
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

    /// The farthest that a partition was seen to reach of late; `nil` when nobody looked.
    func end(of partition: TopicPartition, now: MonotonicTime) -> Int64? {
        places.withLock { $0[partition] }.map { place in
            guard let former = place.former, now.time(since: former.at) < Self.memory else { return place.end }
            return max(former.end, place.end)
        }
    }
}
