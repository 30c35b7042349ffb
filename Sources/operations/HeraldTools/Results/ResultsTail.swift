package import HeraldKafka

/// The results topic from the end that it had when this was made.
///
/// One thread.
package final class ResultsTail {
    private static let requestMilliseconds = 10_000

    private let reader: AssignedReader
    private let topic: String

    /// Notes the topic's ends and begins to read behind them; make it before anything is published.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, `group.id` and `isolation.level` among them; nothing is committed, no group joined.
    ///   - partitions: the topic's partitions.
    package init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        self.topic = topic
        do throws(KafkaError) {
            reader = try AssignedReader(properties: properties)
            var ends: [(TopicPartition, offset: Int64)] = []
            for number in partitions {
                let partition = TopicPartition(topic: topic, partition: number)
                ends.append((partition, offset: try Self.end(of: partition, reader.consumer)))
            }
            try reader.assign(ends)
        } catch {
            throw Self.failure(topic, error)
        }
    }

    /// The offset that the partition's next record gets.
    private static func end(of partition: TopicPartition, _ consumer: Consumer) throws(KafkaError) -> Int64 {
        try KafkaError.outwaiting(within: .milliseconds(requestMilliseconds)) { () throws(KafkaError) in
            try consumer.watermarks(of: partition, timeoutMilliseconds: requestMilliseconds).high
        }
    }

    /// What the wait for a record came to.
    package enum Arrival {
        /// A record; release it.
        case record(Message)
        /// A partition without a leader, a broker that is gone: the client goes on by itself.
        case trouble
        /// Nothing came in time.
        case nothing
    }

    /// The next record, waiting up to this long for it.
    package func next(waitMilliseconds: Int32) throws(ToolFailure) -> Arrival {
        let next: Message?
        do throws(KafkaError) {
            next = try reader.next(waitMilliseconds: waitMilliseconds)
        } catch {
            throw Self.failure(topic, error)
        }
        guard let message = next else { return .nothing }
        guard let error = message.error else { return .record(message) }
        message.release()
        if error.code == KafkaError.Code.topicAuthorizationFailed { throw Self.failure(topic, error) }
        return .trouble
    }

    /// Ends the client.
    package func close() { reader.close() }

    private static func failure(_ topic: String, _ error: KafkaError) -> ToolFailure {
        let isForbidden = error.code == KafkaError.Code.topicAuthorizationFailed
        return ToolFailure(
            "results cannot be read from \(topic): \(error)"
                + (isForbidden ? "; allow Read on it with kafka-acls" : ""),
            kind: ClusterReach.isSilence(error) ? .unreachable : .failed)
    }
}
