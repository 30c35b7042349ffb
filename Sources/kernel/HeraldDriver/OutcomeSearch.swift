internal import HeraldEvents
package import HeraldKafka
internal import HeraldTime

/// Finds out of partitions for which their group has no offset whether their events were dealt with: whether there are
/// outcomes of them.
///
/// The results topic is read from the time stamp of the first record that is left of these partitions, until each has a
/// hit. What ended before that is about a topic that had the name before.
///
/// One thread at a time.
package final class OutcomeSearch {
    /// How long one question to the brokers may take.
    private static let questionTimeout = Milliseconds.seconds(5)

    private enum Phase {
        case beginning
        /// Of each partition the first record.
        case firstRecords
        case results
        case over
    }

    /// The partitions in question.
    package let partitions: Set<TopicPartition>
    /// Those of them with an outcome of an event that they still hold.
    package private(set) var found: Set<TopicPartition> = []

    private let results: String
    private let reader: TopicReader
    private var phase = Phase.beginning
    /// Where each partition with records begins, and when its first record was written.
    private var firsts: [TopicPartition: (offset: Int64, at: WallTime)] = [:]

    /// - Parameters:
    ///   - results: the results topic.
    ///   - properties: librdkafka's, with a `group.id`, which is not joined, and `read_committed`.
    package init(
        of partitions: Set<TopicPartition>, results: String, properties: ClientProperties
    ) throws(KafkaError) {
        self.partitions = partitions
        self.results = results
        // An answer without records says where the end is; it is not worth waiting for.
        reader = try TopicReader(
            properties: properties + [("fetch.wait.max.ms", "10")], patience: .seconds(5), questions: .seconds(5))
    }

    /// Whether everything is known.
    package var isOver: Bool { phase == .over }

    /// Goes on for so long, and a question more at most; what is not known then the next call finds out.
    package func search(for time: Duration) throws(KafkaError) {
        let end = ContinuousClock.now + time
        while phase != .over, ContinuousClock.now < end {
            switch phase {
            case .beginning: try begin()
            case .firstRecords: try readFirsts()
            case .results: try readResults()
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

    /// Where there is no result at all, nothing has to be read.
    private func begin() throws(KafkaError) {
        let all = try reader.consumer.queries.partitions(of: results, timeout: Self.questionTimeout)
        let begins = try reader.consumer.queries.beginnings(of: all, timeout: Self.questionTimeout)
        let ends = try reader.consumer.queries.ends(of: all, timeout: Self.questionTimeout)
        guard all.contains(where: { (begins[$0] ?? 0) < (ends[$0] ?? 0) }) else { return finish() }
        try reader.begin(Dictionary(partitions.map { ($0, .beginning) }) { $1 }, to: .committed)
        phase = .firstRecords
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
            if firsts.count == partitions.count { try beginResults() }
        case .end: try beginResults()
        }
    }

    private func beginResults() throws(KafkaError) {
        guard let since = firsts.values.map(\.at.milliseconds).min() else { return finish() }
        let all = try reader.consumer.queries.partitions(of: results, timeout: Self.questionTimeout)
        try reader.begin(Dictionary(all.map { ($0, .moment(since)) }) { $1 }, to: .committed)
        phase = .results
    }

    private func readResults() throws(KafkaError) {
        switch try reader.next(wait: .milliseconds(50)) {
        case .nothing: return
        case .record(let record):
            defer { record.release() }
            note(record)
            if found.count == firsts.count { finish() }
        case .end: finish()
        }
    }

    private func note(_ record: Message) {
        let result = record.withValue { value -> NotificationResult? in
            guard let value else { return nil }
            return try? NotificationResult(decoding: value)
        }
        guard let result else { return }
        let partition = TopicPartition(topic: result.origin.topic, partition: result.origin.partition)
        guard let first = firsts[partition], result.origin.offset >= first.offset, result.completedAt >= first.at
        else { return }
        found.insert(partition)
    }
}
