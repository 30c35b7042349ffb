import HeraldKafka
import HeraldTime

/// When each partition was first seen to reach how far, as far as it is not done: since when its oldest event waits at
/// least, also while nothing of it is consumed.
struct BacklogTimes: Sendable, Equatable {
    /// More moments than this are not remembered of a partition; of so many, every second is forgotten.
    static let mostMoments = 64

    private struct Reach: Equatable {
        var at: MonotonicTime
        var end: Int64
    }

    /// Rising.
    private var reaches: [TopicPartition: [Reach]] = [:]

    /// Notes how far partitions reach; forgets what is done, and partitions that are not among these.
    ///
    /// - Parameter ends: the offset after the last of each; a partition of which it is not known keeps what was noted.
    mutating func note(_ partitions: [PartitionReport], ends: [TopicPartition: Int64], at moment: MonotonicTime) {
        var kept: [TopicPartition: [Reach]] = [:]
        for report in partitions {
            var known = (reaches[report.partition] ?? []).filter { $0.end > report.done ?? 0 }
            if let end = ends[report.partition], end > known.last?.end ?? report.done ?? 0 {
                known.append(Reach(at: moment, end: end))
            }
            if known.count > Self.mostMoments {
                // The first stays: it tells the age. A later one that is gone makes an event younger, never older.
                known = known.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            }
            if !known.isEmpty { kept[report.partition] = known }
        }
        reaches = kept
    }

    /// Since when the first event of a partition that is not done waits, at least; `nil` when none does.
    func since(_ report: PartitionReport) -> MonotonicTime? {
        reaches[report.partition]?.first { $0.end > report.done ?? 0 }?.at
    }
}
