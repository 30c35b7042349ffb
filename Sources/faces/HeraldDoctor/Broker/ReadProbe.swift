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

    /// What these partitions hold first from there on, with the moment when it was written.
    func firstRecords(
        from positions: [(TopicPartition, offset: Int64)], timeLeft: TimeLeft
    ) throws(KafkaError) -> [TopicPartition: FirstRecord] {
        let limit = timeLeft.step(atMost: Self.readTimeout).duration
        return try consumer.firstRecords(from: positions, within: limit, countsFromOrigin: false)
    }

    func close() { consumer.close() }
}
