import HeraldEvents
import HeraldKafka
import HeraldTime

/// Finds out which notifications of the history failed: they make no duplicates of what comes after them.
///
/// The requests that are read again do not tell; the dead-letter topic does, and it is small where things go well.
struct FailedBefore: Sendable {
    /// How long it may take: an assignment waits for it.
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
    /// At most so many dead letters are read, the latest ones.
    var most: Int

    /// The starts, with what failed of the records between a partition's history and what is committed.
    func added(to starts: [StartPosition], queries: ConsumerQueries) throws(KafkaError) -> [StartPosition] {
        let wanted = starts.filter { ($0.history ?? $0.committed.offset) < $0.committed.offset }
        guard !wanted.isEmpty else { return starts }
        let (beginnings, ends) = try bounds(queries)
        guard !beginnings.isEmpty else { return starts }
        var failed: [TopicPartition: [Int64: PushServiceSet]] = [:]
        for start in wanted { failed[start.committed.partition] = [:] }
        try read(beginnings, to: ends) { origin, services in
            let partition = TopicPartition(topic: origin.topic, partition: origin.partition)
            guard let before = failed[partition] else { return }
            failed[partition]?[origin.offset] = services.union(before[origin.offset] ?? [])
        }
        return starts.map { start in
            var start = start
            start.failed = failed[start.committed.partition] ?? [:]
            return start
        }
    }

    /// Where to read each partition that has dead letters of the window: the latest ones, up to what is committed now.
    private func bounds(
        _ queries: ConsumerQueries
    ) throws(KafkaError) -> (starts: [TopicPartition: TopicReader.Start], ends: [TopicPartition: Int64]) {
        let partitions = try queries.partitions(of: topic, timeout: Self.questionTimeout)
        guard !partitions.isEmpty else { return ([:], [:]) }
        let first = try queries.offsets(
            of: partitions, at: begin.milliseconds, timeout: Self.questionTimeout)
        let ends = try queries.ends(of: partitions, timeout: Self.questionTimeout)
        let share = Int64(max(1, most / partitions.count))
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for partition in partitions {
            guard let first = first[partition], let end = ends[partition], first < end else { continue }
            starts[partition] = .offset(max(first, end - share))
        }
        return (starts, ends)
    }

    private func read(
        _ starts: [TopicPartition: TopicReader.Start], to ends: [TopicPartition: Int64],
        _ body: (Origin, PushServiceSet) -> Void
    ) throws(KafkaError) {
        let deadline = ContinuousClock.now + Self.patience
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
