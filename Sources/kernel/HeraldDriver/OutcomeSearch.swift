package import HeraldEvents
package import HeraldKafka
internal import HeraldTime

/// Searches for outcomes of request partitions without an offset of their group: any result, or any retry of their
/// events.
///
/// The topics of results and retries are read from the time stamp of the first record left in these partitions, until
/// there is a hit: a group loses its offsets together. Earlier records are about a former topic of the same name.
///
/// One thread at a time.
package final class OutcomeSearch {
    /// The longest time for one question to the brokers.
    private static let questionTimeout = Milliseconds.seconds(5)

    private enum Phase {
        case beginning
        /// The first record of each partition.
        case firstRecords
        case outcomes
        case over
    }

    /// The partitions in question.
    package let partitions: Set<TopicPartition>
    /// Whether there is an outcome of an event that they still hold.
    package private(set) var hasFound = false

    private let topics: Topics
    private let delays: [DelayName]
    /// The topics of results and retries, also of delays that the settings do not have any more.
    private var outcomes: [String] = []
    private let reader: TopicReader
    private var phase = Phase.beginning
    /// The begin of each partition with records, and its first record's time.
    private var firsts: [TopicPartition: (offset: Int64, at: WallTime)] = [:]

    /// - Parameters:
    ///   - delays: those of the settings.
    ///   - properties: librdkafka's, with the `group.id` of a group that is not joined, and `read_committed`.
    package init(
        of partitions: Set<TopicPartition>, topics: Topics, delays: [DelayName], properties: ClientProperties
    ) throws(KafkaError) {
        self.partitions = partitions
        self.topics = topics
        self.delays = delays
        // An answer without records shows the end; it is not worth waiting for.
        reader = try TopicReader(
            properties: properties + [("fetch.wait.max.ms", "10")], patience: .seconds(5), questions: .seconds(5))
    }

    /// Whether everything is known.
    package var isOver: Bool { phase == .over }

    /// Searches for this long, and at most one question more; the next call continues.
    package func search(for time: Duration) throws(KafkaError) {
        let end = ContinuousClock.now + time
        while phase != .over, ContinuousClock.now < end {
            switch phase {
            case .beginning: try begin()
            case .firstRecords: try readFirsts()
            case .outcomes: try readOutcomes()
            case .over: break
            }
        }
    }

    package func close() { finish() }

    private func finish() {
        guard phase != .over else { return }
        phase = .over
        reader.close()
    }

    /// Without any outcome nothing has to be read.
    private func begin() throws(KafkaError) {
        let existing = try reader.consumer.queries.topics(timeout: Self.questionTimeout)
        outcomes = [topics.results] + topics.delays(delays, among: existing).map(topics.retryTopic)
        let all = try outcomePartitions()
        let begins = try reader.consumer.queries.beginnings(of: all, timeout: Self.questionTimeout)
        let ends = try reader.consumer.queries.ends(of: all, timeout: Self.questionTimeout)
        guard all.contains(where: { (begins[$0] ?? 0) < (ends[$0] ?? 0) }) else { return finish() }
        try reader.begin(Dictionary(partitions.map { ($0, .beginning) }) { $1 }, to: .committed)
        phase = .firstRecords
    }

    private func outcomePartitions() throws(KafkaError) -> [TopicPartition] {
        var all: [TopicPartition] = []
        for topic in outcomes {
            all += try reader.consumer.queries.partitions(of: topic, timeout: Self.questionTimeout)
        }
        return all
    }

    private func readFirsts() throws(KafkaError) {
        switch try reader.next(wait: .milliseconds(50)) {
        case .nothing: return
        case .record(let record):
            defer { record.release() }
            let partition = TopicPartition(topic: record.topicName(), partition: record.partition)
            if firsts[partition] == nil {
                let time = WallTime(milliseconds: max(0, record.timestampMilliseconds))
                firsts[partition] = (record.offset, min(time, SystemClock.wall()))
            }
            if firsts.count == partitions.count { try beginOutcomes() }
        case .end: try beginOutcomes()
        }
    }

    private func beginOutcomes() throws(KafkaError) {
        guard let since = firsts.values.map(\.at.milliseconds).min() else { return finish() }
        try reader.begin(Dictionary(outcomePartitions().map { ($0, .moment(since)) }) { $1 }, to: .committed)
        phase = .outcomes
    }

    private func readOutcomes() throws(KafkaError) {
        switch try reader.next(wait: .milliseconds(50)) {
        case .nothing: return
        case .record(let record):
            defer { record.release() }
            hasFound = isOutcome(record)
            if hasFound { finish() }
        case .end: finish()
        }
    }

    private func isOutcome(_ record: Message) -> Bool {
        guard let (origin, time) = record.topicName() == topics.results ? result(record) : retry(record),
            let first = firsts[TopicPartition(topic: origin.topic, partition: origin.partition)]
        else { return false }
        return origin.offset >= first.offset && time >= first.at
    }

    private func result(_ record: Message) -> (origin: Origin, at: WallTime)? {
        record.withValue { value in
            // Another program's record there is no result of these events.
            guard let value, let result = try? NotificationResult(decoding: value) else { return nil }
            return (result.origin, result.completedAt)
        }
    }

    private func retry(_ record: Message) -> (origin: Origin, at: WallTime)? {
        var headers = HeaderList()
        record.forEachHeader { name, value in headers.append(name: name, value: value) }
        // The push services do not matter here.
        return EventLineage(headers, .standard).map {
            ($0.origin, WallTime(milliseconds: record.timestampMilliseconds))
        }
    }
}
