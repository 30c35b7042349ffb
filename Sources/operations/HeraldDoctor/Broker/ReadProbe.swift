internal import HeraldKafka

/// Fetches from the ends of topics without being a member of any group: what comes is thrown away.
final class ReadProbe {
    private static let limitMilliseconds = 5_000

    private let consumer: Consumer

    init(properties: ClientProperties) throws(KafkaError) {
        consumer = try Consumer(properties: properties)
    }

    /// The questions to the group's coordinator and to partitions' leaders.
    var queries: ConsumerQueries { consumer.queries }

    /// Who this reader is to the group: nobody, which is a member of no generation.
    var groupMetadata: GroupMetadata? { consumer.groupMetadata() }

    /// Why each of these topics cannot be read (`nil`: it can); a topic is left out when no answer came in time.
    func read(_ partitions: [TopicPartition], timeLeft: TimeLeft) throws(KafkaError) -> [String: KafkaError?] {
        try consumer.assign(partitions.map { ($0, offset: Offset.end) })
        let end = ContinuousClock.now + .milliseconds(timeLeft.milliseconds(atMost: Self.limitMilliseconds))
        var answers: [String: KafkaError?] = [:]
        while answers.count < partitions.count, ContinuousClock.now < end {
            guard let message = consumer.queue.next(waitMilliseconds: 100) else { continue }
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
        try consumer.assign(positions)
        let end = ContinuousClock.now + .milliseconds(timeLeft.milliseconds(atMost: Self.limitMilliseconds))
        var seen: Set<TopicPartition> = []
        var exhausted: Set<TopicPartition> = []
        while seen.count < positions.count, ContinuousClock.now < end {
            guard let message = consumer.queue.next(waitMilliseconds: 100) else { continue }
            defer { message.release() }
            let partition = TopicPartition(topic: message.topicName(), partition: message.partition)
            let isFirst = seen.insert(partition).inserted
            if isFirst, message.error?.code == KafkaError.Code.partitionEOF { exhausted.insert(partition) }
        }
        try consumer.unassign()
        return exhausted
    }

    func close() { consumer.close() }
}
