import HeraldKafka
import HeraldTime

/// How far back the request partitions are read after an assignment, to know again which events came before.
struct History: Sendable {
    /// The request topics.
    var topics: Set<String>
    /// Events that came before this do not count.
    var begin: WallTime
    /// At most so many records of all partitions; 0 = nothing is read.
    var size: Int

    /// Where each partition is read from: the window's first record, but no more than its share of the size below what is
    /// committed.
    ///
    /// In a backlog, whose records are all older than the window, that share alone decides.
    func starts(of committed: [CommitPosition], queries: ConsumerQueries) throws(KafkaError) -> [StartPosition] {
        let known = committed.filter { $0.offset > 0 && topics.contains($0.partition.topic) }
        guard size > 0, !known.isEmpty else { return committed.map { StartPosition(committed: $0) } }
        let share = Int64(size / known.count)
        let partitions = known.map(\.partition)
        let ends = try queries.ends(of: partitions, timeout: .seconds(10))
        let first = try queries.offsets(of: partitions, at: begin.milliseconds, timeout: .seconds(10))
        let left = try queries.offsets(of: partitions, at: 0, timeout: .seconds(10))
        return committed.map { position in
            let partition = position.partition
            var history: Int64?
            // A topic that ends before the offset was recreated: its records are no history, but new.
            if let end = ends[partition], end >= position.offset, let first = first[partition] {
                history = Self.start(
                    committed: position.offset, inWindow: first, firstLeft: left[partition] ?? position.offset,
                    share: share)
            }
            return StartPosition(committed: position, history: history)
        }
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
