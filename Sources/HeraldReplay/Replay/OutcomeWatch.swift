internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// Reads the results topic on from the end that it had when this was made, for the outcomes of replays.
///
/// One thread.
final class OutcomeWatch {
    private static let requestMilliseconds = 10_000

    private let consumer: Consumer
    private let topic: String

    init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        self.topic = topic
        do throws(KafkaError) {
            consumer = try Consumer(properties: properties)
            var ends: [(TopicPartition, offset: Int64)] = []
            for number in partitions {
                let partition = TopicPartition(topic: topic, partition: number)
                let end = try consumer.queries.watermarks(
                    of: partition, timeoutMilliseconds: Self.requestMilliseconds
                ).high
                ends.append((partition, offset: end))
            }
            try consumer.assign(ends)
        } catch {
            throw Self.failure(topic, error)
        }
    }

    /// Takes what has come, waiting up to this long for the first.
    func take(into book: inout OutcomeBook, waitMilliseconds: Int32) throws(ToolFailure) {
        var wait = waitMilliseconds
        while let message = consumer.queue.next(waitMilliseconds: wait) {
            defer { message.release() }
            if let error = message.error {
                if error.code == KafkaError.Code.topicAuthorizationFailed { throw Self.failure(topic, error) }
                // A partition without a leader, a broker that is gone: the client goes on by itself.
                continue
            }
            wait = 0
            if let result = Self.result(message) { book.take(result) }
        }
    }

    func close() { consumer.close() }

    /// A result of a replay; others are most of what lies there, and are not worth reading.
    private static func result(_ message: Message) -> NotificationResult? {
        message.withValue { value in
            guard let value, isOfReplay(value) else { return nil }
            // What somebody else has written there is no result of these events.
            return try? NotificationResult(decoding: value)
        }
    }

    private static func isOfReplay(_ value: RawSpan) -> Bool {
        let wanted = #""replays""# as StaticString
        guard value.byteCount >= wanted.utf8CodeUnitCount else { return false }
        for start in 0...value.byteCount - wanted.utf8CodeUnitCount
        where value[byteAt: start] == UInt8(ascii: "\"")
            && value.extracting(start..<start + wanted.utf8CodeUnitCount).hasSameBytes(as: wanted)
        { return true }
        return false
    }

    private static func failure(_ topic: String, _ error: KafkaError) -> ToolFailure {
        let isForbidden = error.code == KafkaError.Code.topicAuthorizationFailed
        return ToolFailure(
            "results cannot be read from \(topic): \(error)"
                + (isForbidden ? "; allow Read on it with kafka-acls" : ""),
            kind: ClusterReach.isSilence(error) ? .unreachable : .failed)
    }
}
