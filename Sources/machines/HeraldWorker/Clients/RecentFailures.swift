import HeraldEvents
import HeraldKafka
import HeraldTime

/// Finds the failed notifications of the history: later events are no duplicates of them.
///
/// The requests that are read again do not show this; the dead-letter topic does, and it is small in good times.
struct RecentFailures: Sendable {
    /// The longest time it may take: an assignment waits for it.
    private static let limit = Duration.seconds(20)
    /// The longest time without a record.
    private static let patience = Duration.seconds(5)
    private static let questionTimeout: Milliseconds = .seconds(5)

    /// The dead-letter topic.
    var topic: String
    /// The reader's properties, `read_committed` and with end-of-partition events.
    var properties: ClientProperties
    /// The names in the headers.
    var pushServices: PushServices
    /// Earlier dead letters do not count.
    var begin: WallTime

    /// The starts, with the failures among a partition's settled records: those between its history and the committed
    /// offset, and those done beyond it.
    func added(to starts: [StartPosition], queries: ConsumerQueries) throws(KafkaError) -> [StartPosition] {
        var failed: [TopicPartition: [Int64: PushServiceSet]] = [:]
        var firsts: [TopicPartition: Int64] = [:]
        for start in starts where start.hasDone {
            failed[start.committed.partition] = [:]
            firsts[start.committed.partition] = start.history ?? start.committed.offset
        }
        guard !failed.isEmpty else { return starts }
        let (beginnings, ends) = try bounds(queries)
        guard !beginnings.isEmpty else { return starts }
        try read(beginnings, to: ends) { origin, services in
            let partition = TopicPartition(topic: origin.topic, partition: origin.partition)
            guard let first = firsts[partition], origin.offset >= first else { return }
            let before = failed[partition]?[origin.offset] ?? []
            failed[partition]?[origin.offset] = services.union(before)
        }
        return starts.map { start in
            var start = start
            start.failed = failed[start.committed.partition] ?? [:]
            return start
        }
    }

    /// The range to read of each partition with dead letters of the window.
    ///
    /// Committed ones may lie behind an open transaction: its end is waited for.
    private func bounds(
        _ queries: ConsumerQueries
    ) throws(KafkaError) -> (starts: [TopicPartition: TopicReader.Start], ends: [TopicPartition: Int64]) {
        let partitions = try queries.partitions(of: topic, timeout: Self.questionTimeout)
        guard !partitions.isEmpty else { return ([:], [:]) }
        let first = queries.answers(begin.milliseconds, of: partitions, timeout: Self.questionTimeout)
        let stable = try queries.ends(of: partitions, timeout: Self.questionTimeout)
        let other = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
        defer { other.close() }
        let ends = try other.queries.ends(of: partitions, timeout: Self.questionTimeout)
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for partition in partitions {
            // No broker can find the window's begin there: more than the window is read.
            let isBlind = first.failures[partition] != nil
            guard let begin = isBlind ? 0 : first.found[partition] ?? stable[partition], let end = ends[partition],
                begin < end
            else { continue }
            starts[partition] = isBlind ? .beginning : .offset(begin)
        }
        return (starts, ends)
    }

    private func read(
        _ starts: [TopicPartition: TopicReader.Start], to ends: [TopicPartition: Int64],
        _ body: (Origin, PushServiceSet) -> Void
    ) throws(KafkaError) {
        let deadline = ContinuousClock.now + Self.limit
        let reader = try TopicReader(properties: properties, patience: Self.patience, questions: Self.patience)
        defer { reader.close() }
        try reader.begin(starts, to: .offsets(ends))
        var headers = HeaderList()
        while true {
            guard ContinuousClock.now < deadline else { throw KafkaError(code: KafkaError.Code.timedOut) }
            switch try reader.next(wait: .milliseconds(50)) {
            case .end: return
            case .nothing: continue
            case .record(let message):
                defer { message.release() }
                headers.removeAll()
                message.forEachHeader { name, value in headers.append(name: name, value: value) }
                guard let failure = DeadLetter.failure(headers, pushServices) else { continue }
                body(failure.origin, failure.services)
            }
        }
    }
}

extension StartPosition {
    /// Whether settled records are read.
    fileprivate var hasDone: Bool {
        (history ?? committed.offset) < committed.offset || !committed.metadata.isEmpty
    }
}
