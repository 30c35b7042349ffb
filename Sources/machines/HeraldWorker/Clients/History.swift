import HeraldCore
import HeraldKafka
import HeraldTime

/// How far back partitions are read after an assignment: the request topics' to know again which events came before, and all
/// whose log may be another one than was committed.
struct History: Sendable {
    /// The request topics.
    var topics: Set<String>
    /// Events that came before this do not count.
    var begin: WallTime
    /// At most so many records of all partitions; 0 = nothing is read.
    var size: Int

    /// So much of a partition is read to find out whether its log is another one, if its share of the size is less.
    private static let leastShare: Int64 = 1_000

    /// Where each partition is read from.
    func starts(of committed: [CommitPosition], queries: ConsumerQueries) throws(KafkaError) -> [StartPosition] {
        let known = committed.filter { $0.offset > 0 && topics.contains($0.partition.topic) }
        let share = Int64(size / max(known.count, 1))
        let windows = try windows(of: known, share: share, queries: queries)
        let doubts = try doubts(about: committed, share: max(share, Self.leastShare), queries: queries)
        return committed.map {
            let found = [windows[$0.partition], doubts[$0.partition]].compactMap { $0 }
            return StartPosition(committed: $0, history: found.min())
        }
    }

    /// Where younger records than all that was taken lie below a committed offset: the log was cut off, or made anew, and has
    /// grown since.
    ///
    /// The ends of transactions and what was aborted have time stamps too, so that the lane has to look at the records.
    private func doubts(
        about committed: [CommitPosition], share: Int64, queries: ConsumerQueries
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        var evidence: [TopicPartition: LogEvidence] = [:]
        for position in committed where position.offset > 0 {
            let identity = PartitionIdentity(
                cluster: queries.clusterID ?? "", topic: position.partition.topic,
                partition: position.partition.partition)
            let map = CompletionMap(text: position.metadata, committed: position.offset, of: identity)
            if let found = map?.evidence, found.newest >= 0 { evidence[position.partition] = found }
        }
        guard !evidence.isEmpty else { return [:] }
        let younger = try queries.offsets(at: evidence.mapValues { $0.newest + 1 }, timeout: .seconds(10))
        let doubtful = committed.filter { younger[$0.partition, default: .max] < $0.offset }
        guard !doubtful.isEmpty else { return [:] }
        let ends = try queries.ends(of: doubtful.map(\.partition), timeout: .seconds(10))
        var begins: [TopicPartition: Int64] = [:]
        for position in doubtful {
            // One that ends before the offset is judged when the broker says so.
            guard let end = ends[position.partition], end >= position.offset,
                let first = younger[position.partition], let begin = evidence[position.partition]?.begin
            else { continue }
            begins[position.partition] = min(position.offset, max(first, begin, position.offset - share))
        }
        return begins
    }

    /// Where the window of each partition begins: at its first record, but no more than its share of the size below what is
    /// committed.
    ///
    /// In a backlog, whose records are all older than the window, that share alone decides.
    private func windows(
        of known: [CommitPosition], share: Int64, queries: ConsumerQueries
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard size > 0, !known.isEmpty else { return [:] }
        let partitions = known.map(\.partition)
        let ends = try queries.ends(of: partitions, timeout: .seconds(10))
        let first = try queries.offsets(of: partitions, at: begin.milliseconds, timeout: .seconds(10))
        let left = try queries.offsets(of: partitions, at: 0, timeout: .seconds(10))
        var begins: [TopicPartition: Int64] = [:]
        for position in known {
            let partition = position.partition
            // A log that ends before the offset is another one: its records may be new.
            guard let end = ends[partition], end >= position.offset, let first = first[partition] else { continue }
            begins[partition] = Self.start(
                committed: position.offset, inWindow: first, firstLeft: left[partition] ?? position.offset, share: share
            )
        }
        return begins
    }

    /// Where the history of one partition begins.
    ///
    /// Never below the first record that is left: the broker would refuse that offset, and every partition would be
    /// read again from its committed offset.
    ///
    /// - Parameters:
    ///   - first: The window's first record; behind `committed` when no earlier one is in it.
    ///   - firstLeft: The first record that retention has left.
    static func start(committed: Int64, inWindow first: Int64, firstLeft: Int64, share: Int64) -> Int64 {
        min(committed, max(first < committed ? first : 0, committed - share, firstLeft))
    }
}
