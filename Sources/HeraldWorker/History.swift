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
        let ends = try queries.ends(of: partitions, timeoutMilliseconds: 10_000)
        let first = try queries.offsets(of: partitions, at: begin.milliseconds, timeoutMilliseconds: 10_000)
        var starts: [StartPosition] = []
        for position in committed {
            var history: Int64?
            // A topic that ends before it was made anew: its records are no history, but new.
            if let end = ends[position.partition], end >= position.offset, let first = first[position.partition] {
                history = max(first < position.offset ? first : 0, position.offset - share)
            }
            starts.append(StartPosition(committed: position, history: history))
        }
        return starts
    }
}
