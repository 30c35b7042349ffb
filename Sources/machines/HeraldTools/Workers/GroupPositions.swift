package import HeraldCore
package import HeraldDriver
package import HeraldKafka
package import HeraldTime

/// Where a group stands in each partition.
package struct GroupPositions: Sendable, Equatable {
    package struct Position: Sendable, Equatable {
        package var partition: TopicPartition
        /// `nil`: nothing is committed yet, and the group begins at the beginning.
        package var committed: Int64?
        /// The note of the commit, in which a worker says what it has done behind that offset.
        package var note: String
        package var begin: Int64
        /// Up to where it can be read: a transaction that is open holds back what is behind its first record.
        package var stable: Int64
        package var end: Int64
        /// How many offsets before the begin were deleted, and nobody has read them.
        package var lost: Int64 = 0
        /// Retry topics: how many should have been taken by now.
        package var overdue: Int64 = 0
        /// How many events can be read from ``next`` on, where they were counted.
        package var counted: Int64?
        /// Whether they were to be counted, and the time was over before: ``lag`` is then a bound.
        package var isUncounted = false

        package init(
            partition: TopicPartition, committed: Int64?, note: String = "", begin: Int64, stable: Int64? = nil,
            end: Int64
        ) {
            self.partition = partition
            self.committed = committed
            self.note = note
            self.begin = begin
            self.stable = min(stable ?? end, end)
            self.end = end
        }

        /// Whether a consumer could go on from there.
        package var isInRange: Bool { (begin...max(begin, end)).contains(committed ?? begin) }

        /// How many wait: events where they were counted, else offsets, of which the marks of transactions have some, too.
        package var lag: Int64 { counted.map { $0 + held } ?? max(0, end - next) }

        /// How much of the lag lies behind an open transaction.
        package var held: Int64 { max(0, end - max(next, stable)) }

        /// The first offset that is not known to be done.
        package var next: Int64 { max(begin, committed ?? begin) }
    }

    package var partitions: [Position]

    package init(partitions: [Position]) {
        self.partitions = partitions
    }

    package func of(_ topic: String) -> [Position] { partitions.filter { $0.partition.topic == topic } }

    package var lag: Int64 { partitions.reduce(0) { $0 + $1.lag } }

    /// What was deleted before it was read.
    package var lostRecords: LostRecords {
        LostRecords(of: partitions.map { ($0.partition, $0.lost) })
    }
}

/// Asks the brokers where a group stands; joins nothing.
///
/// Each question blocks.
package struct GroupSurvey {
    private let queries: ConsumerQueries
    private let admin: Admin
    private let timeout: () -> Milliseconds

    /// - Parameters:
    ///   - queries: those of a `read_uncommitted` consumer with the group's `group.id`: an offset that a worker is just
    ///     committing does not keep it waiting.
    ///   - admin: which is `read_committed`: asked up to where can be read.
    ///   - timeout: how long the next question may take.
    package init(_ queries: ConsumerQueries, admin: Admin, timeout: @escaping () -> Milliseconds) {
        self.queries = queries
        self.admin = admin
        self.timeout = timeout
    }

    /// Where the group stands in these partitions, which have leaders.
    package func positions(of partitions: [TopicPartition]) throws(KafkaError) -> GroupPositions {
        // First: what is committed meanwhile is no loss.
        let begins = try queries.beginnings(of: partitions, timeout: timeout())
        let committed = try queries.committed(partitions, timeout: timeout())
        let stable = try admin.ends(of: partitions, timeout: timeout())
        let ends = try queries.ends(of: partitions, timeout: timeout())
        return GroupPositions(
            partitions: committed.map { position in
                var found = GroupPositions.Position(
                    partition: position.partition, committed: position.offset < 0 ? nil : position.offset,
                    note: position.metadata, begin: begins[position.partition] ?? 0,
                    stable: stable[position.partition], end: ends[position.partition] ?? 0)
                if let committed = found.committed, committed < found.begin {
                    let gone = committed..<found.begin
                    let done = completions(of: position)?.done.reduce(0) { $0 + Int64($1.clamped(to: gone).count) } ?? 0
                    found.lost = Int64(gone.count) - done
                }
                return found
            })
    }

    /// What a commit's metadata says is done beyond it; `nil` when it is not Herald's, or damaged.
    package func completions(of position: CommitPosition) -> CompletionMap? {
        CompletionMap(
            text: position.metadata, committed: position.offset,
            of: PartitionIdentity(
                cluster: queries.clusterID ?? "", topic: position.partition.topic,
                partition: position.partition.partition))
    }

    /// How many offsets that wait and can be read were written before a moment of their partition (milliseconds since the Unix epoch);
    /// only of partitions with a moment in which something waits.
    package func waiting(
        in positions: GroupPositions, writtenBefore moment: (TopicPartition) -> Int64?
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let behind = positions.partitions.filter { $0.lag > 0 && $0.isInRange }
        var moments: [TopicPartition: Int64] = [:]
        for position in behind { moments[position.partition] = moment(position.partition).map { max(0, $0) } }
        guard !moments.isEmpty else { return [:] }
        let firstAfter = try queries.offsets(at: moments, timeout: timeout())
        var counts: [TopicPartition: Int64] = [:]
        for position in behind where moments[position.partition] != nil {
            let end = firstAfter[position.partition] ?? position.stable
            let offsets = max(0, min(end, position.stable) - position.next)
            counts[position.partition] = min(offsets, position.counted ?? offsets)
        }
        return counts
    }
}
