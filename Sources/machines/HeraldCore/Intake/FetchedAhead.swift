/// The bytes fetched and not taken: for each span of time between two looks the bytes that arrived in it, and the point
/// to which each source has to be taken until none are left.
///
/// librdkafka keeps the whole answer to a fetch, of all partitions, while any of its records is there. So a span counts
/// in full until every source is past it, and a source holds every span of which it has a record.
struct FetchedAhead: Sendable {
    /// The client's overhead for a record.
    static let recordOverhead = 350
    /// Beyond this many spans small neighbours become one.
    static let spanLimit = 128
    /// The number of latest records, up to twice as many, whose average size counts for a source.
    static let sizeWindow = 512
    /// The number of taken records before the average is known.
    static let fewestSizes = 16

    private struct Span {
        var bytes: Int
        /// The number of records of each source that had arrived when the span began.
        var before: [Int]
        /// The number that had arrived when it ended.
        var arrived: [Int]
    }

    private struct Flow {
        /// The records that have arrived since the assignment.
        var arrived = 0
        /// The records in the queue.
        var count = 0
        /// The records taken since the last look.
        var taken = 0
        /// Whether any was taken between the last two looks.
        var isTaken = false
        /// The latest records, and their bytes.
        var sizes = (records: 0, bytes: 0)

        /// Unknown, and 0, before some were taken.
        var averageSize: Int { sizes.records < FetchedAhead.fewestSizes ? 0 : sizes.bytes / sizes.records }
    }

    private var spans: [Span] = []
    private var flows: [Flow]
    /// The client's fetched bytes at the last look that found records of it.
    private var fetched: Int
    private var lastFetched: Int

    /// An empty count.
    ///
    /// - Parameter fetched: the bytes that the client has fetched in its life.
    init(sources: Int, fetched: Int = 0) {
        flows = Array(repeating: Flow(), count: sources)
        self.fetched = fetched
        lastFetched = fetched
    }

    /// Notes that a record of this size was taken from the source's queue.
    mutating func consumed(from source: Int, bytes: Int) {
        flows[source].taken += 1
        flows[source].sizes.records += 1
        flows[source].sizes.bytes += bytes
    }

    /// Takes the number of records in each source's queue, and the bytes that the client has fetched in its life.
    mutating func look(counts: [Int], fetched total: Int) {
        var arrivals = 0
        var expected = 0
        let before = flows.map(\.arrived)
        for source in flows.indices where counts.indices.contains(source) {
            let new = max(0, counts[source] - flows[source].count + flows[source].taken)
            flows[source].arrived += new
            flows[source].count = counts[source]
            flows[source].isTaken = flows[source].taken > 0
            flows[source].taken = 0
            arrivals += new
            // Compressed batches hold more than was fetched.
            expected += new * flows[source].averageSize
            if flows[source].sizes.records > Self.sizeWindow {
                flows[source].sizes = (flows[source].sizes.records / 2, flows[source].sizes.bytes / 2)
            }
        }
        if arrivals > 0 {
            let bytes = max(total - fetched, expected) + arrivals * Self.recordOverhead
            spans.append(Span(bytes: bytes, before: before, arrived: flows.map(\.arrived)))
            fetched = total
        } else if total == lastFetched {
            // The answers had no records.
            fetched = total
        }
        lastFetched = total
        removePassed()
    }

    /// Whether no source has records there.
    var isEmpty: Bool { spans.isEmpty }

    /// Whether any record of the source was taken between the last two looks.
    func isTaken(source: Int) -> Bool { flows[source].isTaken }

    /// Notes that the source has no records any more.
    mutating func empty(source: Int) {
        flows[source].count = 0
        flows[source].taken = 0
        removePassed()
    }

    /// The bytes that are there because of any source.
    var total: Int { spans.reduce(0) { $0 + $1.bytes } }

    /// The bytes that would still be there if only this source's records were.
    func held(by source: Int) -> Int { spans.reduce(0) { $0 + (holds(source, $1) ? $1.bytes : 0) } }

    private func holds(_ source: Int, _ span: Span) -> Bool {
        let flow = flows[source]
        return span.arrived[source] > max(span.before[source], flow.arrived - flow.count)
    }

    private mutating func removePassed() {
        spans = spans.filter { span in flows.indices.contains { holds($0, span) } }
        guard spans.count > Self.spanLimit else { return }
        // Small neighbours become one, so that half of the limit is left at most.
        let share = total / (Self.spanLimit / 4)
        var merged: [Span] = []
        for span in spans {
            if let last = merged.last, last.bytes + span.bytes <= share {
                let both = Span(bytes: last.bytes + span.bytes, before: last.before, arrived: span.arrived)
                merged[merged.count - 1] = both
            } else {
                merged.append(span)
            }
        }
        spans = merged
    }
}
