internal import Glibc
internal import HeraldEvents
internal import HeraldKafka

/// Reads the results topic from the end that it had when this was made.
///
/// One thread.
public final class ResultFollower {
    private static let requestMilliseconds = 10_000
    private static let longestWaitMilliseconds = 1_000

    private let consumer: Consumer
    private let topic: String

    /// Notes the topic's ends and begins to read behind them; make it before anything is published.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, `group.id` and `isolation.level` among them; nothing is committed, no group joined.
    ///   - partitions: the topic's partitions.
    public init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        self.topic = topic
        do throws(KafkaError) {
            consumer = try Consumer(properties: properties)
            var ends: [(TopicPartition, offset: Int64)] = []
            for number in partitions {
                let partition = TopicPartition(topic: topic, partition: number)
                ends.append((partition, offset: try Self.end(of: partition, consumer)))
            }
            try consumer.assign(ends)
        } catch {
            throw Self.failure(topic, error)
        }
    }

    /// Asks again while a topic that was just made, or a leader that moves, is not known everywhere.
    private static func end(of partition: TopicPartition, _ consumer: Consumer) throws(KafkaError) -> Int64 {
        let deadline = ContinuousClock.now + .milliseconds(requestMilliseconds)
        while true {
            do throws(KafkaError) {
                return try consumer.watermarks(of: partition, timeoutMilliseconds: requestMilliseconds).high
            } catch {
                guard passing.contains(error.code), ContinuousClock.now < deadline else { throw error }
                usleep(askAgainMicroseconds)
            }
        }
    }

    private static let passing = [
        KafkaError.Code.notLeaderForPartition, KafkaError.Code.leaderNotAvailable,
        KafkaError.Code.unknownTopicOrPartition, KafkaError.Code.unknownPartition,
    ]
    private static let askAgainMicroseconds: UInt32 = 100_000

    /// Hands over results until `board` is complete or the time is over.
    public func follow(
        _ board: inout OutcomeBoard, for time: Duration, _ onOutcome: (OutcomeBoard.Entry) -> Void
    ) throws(ToolFailure) {
        let end = ContinuousClock.now + time
        while !board.isComplete {
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { return }
            let wait = Int32(min(left.rounded(.up), Double(Self.longestWaitMilliseconds)))
            guard let message = consumer.queue.next(waitMilliseconds: wait) else { continue }
            defer { message.release() }
            if let error = message.error {
                if error.code == KafkaError.Code.topicAuthorizationFailed { throw Self.failure(topic, error) }
                // A partition without a leader, a broker that is gone: the client goes on by itself.
                continue
            }
            guard let result = Self.result(message) else { continue }
            for entry in board.take(result) { onOutcome(entry) }
        }
    }

    /// Ends the client.
    public func close() { consumer.close() }

    private static func result(_ message: Message) -> NotificationResult? {
        message.withValue { value in
            guard let value else { return nil }
            // What somebody else has written there is no result of these events.
            return try? NotificationResult(decoding: value)
        }
    }

    private static func failure(_ topic: String, _ error: KafkaError) -> ToolFailure {
        let isForbidden = error.code == KafkaError.Code.topicAuthorizationFailed
        return ToolFailure(
            "results cannot be read from \(topic): \(error)"
                + (isForbidden ? "; allow Read on it with kafka-acls" : ""),
            kind: ClusterReach.isSilence(error) ? .unreachable : .failed)
    }
}
