import HeraldEvents
import HeraldKafka
import HeraldTime

/// Finds out which notifications of the history failed: they make no duplicates of what comes after them.
///
/// The requests that are read again do not tell; the dead-letter topic does, and it is small where things go well.
struct RecentFailures: Sendable {
    /// How long it may take: an assignment waits for it.
    private static let limit = Duration.seconds(20)
    /// How long nothing may come.
    private static let patience = Duration.seconds(5)
    private static let questionTimeout: Milliseconds = .seconds(5)

    /// The dead-letter topic.
    var topic: String
    /// The reader's, `read_committed` and with end-of-partition events.
    var properties: ClientProperties
    /// The names in the headers.
    var pushServices: PushServices
    /// Dead letters from before this do not count.
    var begin: WallTime

    /// The starts, with what failed of the records of a partition that were dealt with: between its history and what is
    /// committed, and those that were done beyond that.
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

    /// Where to read each partition that has dead letters of the window, and up to where.
    ///
    /// Behind an open transaction there may be some that are committed: its end is waited for.
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
            // No broker can say where the window begins there: more than the window is read.
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
    /// Whether records that were dealt with are read.
    fileprivate var hasDone: Bool {
        (history ?? committed.offset) < committed.offset || !committed.metadata.isEmpty
    }
}
