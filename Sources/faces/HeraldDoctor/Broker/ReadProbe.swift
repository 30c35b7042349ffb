internal import HeraldKafka
import HeraldTime
internal import HeraldTools

/// Fetches from the ends of topics without being a member of any group: what comes is thrown away.
final class ReadProbe {
    private static let readTimeout = Milliseconds.seconds(5)

    private let consumer: Consumer

    init(properties: ClientProperties) throws(KafkaError) {
        consumer = try Consumer(properties: properties)
    }

    /// The questions to the group's coordinator and to partitions' leaders.
    var queries: ConsumerQueries { consumer.queries }

    /// What this reader is to the group: no member, of no generation.
    var groupMetadata: GroupMetadata? { consumer.groupMetadata() }

    /// Why each of these topics cannot be read (`nil`: it can); a topic is left out when no answer came in time.
    func read(_ partitions: [TopicPartition], timeLeft: TimeLeft) throws(KafkaError) -> [String: KafkaError?] {
        try consumer.assign(partitions.map { ($0, offset: Offset.end) })
        let end = ContinuousClock.now + timeLeft.step(atMost: Self.readTimeout).duration
        var answers: [String: KafkaError?] = [:]
        while answers.count < partitions.count, ContinuousClock.now < end {
            guard let message = consumer.queue.next(wait: .milliseconds(100)) else { continue }
            defer { message.release() }
            let error = message.error
            let isReadable = error == nil || error?.code == KafkaError.Code.partitionEOF
            guard isReadable || error?.isOfTopic == true else { continue }
            answers[message.topicName()] = .some(isReadable ? nil : error)
        }
        try consumer.unassign()
        return answers
    }

    /// Those of these partitions in which nothing is left to read from there on but the marks of transactions.
    func exhausted(
        _ positions: [(TopicPartition, offset: Int64)], timeLeft: TimeLeft
    ) throws(KafkaError) -> Set<TopicPartition> {
        let limit = timeLeft.step(atMost: Self.readTimeout).duration
        let first = try consumer.firstRecords(from: positions, within: limit)
        return Set(first.filter { $0.value == .none }.keys)
    }

    func close() { consumer.close() }
}
