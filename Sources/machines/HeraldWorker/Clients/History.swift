import HeraldCore
import HeraldKafka
import HeraldTime

/// The range of records that is read again after an assignment: of request topics, to recognise repeated events, and of
/// all partitions whose log may have been replaced.
struct History: Sendable {
    /// The request topics.
    var topics: Set<String>
    /// Earlier events do not count.
    var begin: WallTime
    /// The most records of all partitions; 0 = none are read.
    var size: Int

    /// The least part of a partition that is read to check whether its log was replaced.
    private static let leastShare: Int64 = 1_000

    private static let questionTimeout = Milliseconds.seconds(10)

    /// The first offset to read of each partition; a partition waits while its end or beginning is unknown.
    ///
    /// A look-up by time may fail for good: the broker unpacks the batch that it leads to. Then the share alone
    /// decides: more is read than needed, but nothing is missed.
    ///
    /// - Parameter report: Receives the partitions whose look-up by time failed.
    func starts(
        of committed: [CommitPosition], queries: ConsumerQueries, report: ([TopicPartition: KafkaError]) -> Void
    ) -> [StartPosition] {
        let taken = committed.filter { $0.offset > 0 }
        let ends = queries.answers(Offset.end, of: taken.map(\.partition), timeout: Self.questionTimeout)
        // One that ends before the offset is another log, whose records may be new, and is judged when the broker says so.
        let whole = taken.filter { position in ends.found[position.partition].map { $0 >= position.offset } ?? false }
        let known = whole.filter { topics.contains($0.partition.topic) }
        let share = Int64(size / max(known.count, 1))
        let windows = windows(of: known, share: share, queries: queries)
        let doubts = doubts(about: whole, share: max(share, Self.leastShare), queries: queries)
        let blind = windows.blind.merging(doubts.blind) { $1 }
        if !blind.isEmpty { report(blind) }
        let failures = ends.failures.merging(windows.failures) { $1 }.merging(doubts.failures) { $1 }
        return committed.map {
            if let error = failures[$0.partition] { return StartPosition(unanswered: $0.partition, error) }
            let found = [windows.begins[$0.partition], doubts.begins[$0.partition]].compactMap { $0 }
            return StartPosition(committed: $0, history: found.min())
        }
    }

    /// The known first offsets of partitions.
    private struct Begins {
        var begins: [TopicPartition: Int64] = [:]
        /// The failed look-ups, with their errors.
        var failures: [TopicPartition: KafkaError] = [:]
        /// The partitions whose look-up by time failed.
        var blind: [TopicPartition: KafkaError] = [:]

        /// Sorts failed look-ups by time into those that another attempt may answer, and the others.
        mutating func note(_ failures: [TopicPartition: KafkaError]) {
            for (partition, error) in failures {
                switch error.kind {
                case .settling, .unknownTopic: self.failures[partition] = error
                default: blind[partition] = error
                }
            }
        }
    }

    /// The partitions with younger records than any taken one below a committed offset: the log was cut off or
    /// recreated, and has grown since.
    ///
    /// The ends of transactions and aborted records have time stamps too, so that the lane has to look at the records.
    private func doubts(about committed: [CommitPosition], share: Int64, queries: ConsumerQueries) -> Begins {
        var found = Begins()
        var evidence: [TopicPartition: LogEvidence] = [:]
        for position in committed {
            let identity = PartitionIdentity(
                cluster: queries.clusterID ?? "", topic: position.partition.topic,
                partition: position.partition.partition)
            let map = CompletionMap(text: position.metadata, committed: position.offset, of: identity)
            if let known = map?.evidence, known.newest >= 0 { evidence[position.partition] = known }
        }
        let younger = queries.answers(at: evidence.mapValues { $0.newest + 1 }, timeout: Self.questionTimeout)
        found.note(younger.failures)
        let left = queries.answers(Offset.beginning, of: Array(found.blind.keys), timeout: Self.questionTimeout)
        found.failures.merge(left.failures) { $1 }
        let first = younger.found.merging(left.found) { $1 }
        for position in committed {
            guard let first = first[position.partition], first < position.offset,
                let begin = evidence[position.partition]?.begin
            else { continue }
            found.begins[position.partition] = min(position.offset, max(first, begin, position.offset - share))
        }
        return found
    }

    /// The begin of each partition's window: its first record, but no more than its share of the size below the
    /// committed offset.
    ///
    /// In a backlog, whose records are all older than the window, that share alone decides.
    private func windows(of known: [CommitPosition], share: Int64, queries: ConsumerQueries) -> Begins {
        var found = Begins()
        guard size > 0 else { return found }
        let partitions = known.map(\.partition)
        let left = queries.answers(Offset.beginning, of: partitions, timeout: Self.questionTimeout)
        found.failures = left.failures
        let first = queries.answers(
            begin.milliseconds, of: partitions.filter { found.failures[$0] == nil }, timeout: Self.questionTimeout)
        found.note(first.failures)
        for position in known {
            let partition = position.partition
            guard let first = first.found[partition] ?? found.blind[partition].map({ _ in 0 }) else { continue }
            found.begins[partition] = Self.start(
                committed: position.offset, inWindow: first, firstLeft: left.found[partition] ?? position.offset,
                share: share)
        }
        return found
    }

    /// The begin of one partition's history.
    ///
    /// It is never below the first remaining record: the broker would refuse that offset, and every partition would be
    /// read again from its committed offset.
    ///
    /// - Parameters:
    ///   - first: The window's first record; behind `committed` when no earlier one is in it.
    ///   - firstLeft: The first record that retention has left.
    static func start(committed: Int64, inWindow first: Int64, firstLeft: Int64, share: Int64) -> Int64 {
        min(committed, max(first < committed ? first : 0, committed - share, firstLeft))
    }
}
