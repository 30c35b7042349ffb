/// Reads partitions from given offsets on, as a member of no group, and hands out nothing twice.
///
/// After its broker was killed and came back, a client has been seen to fetch nothing more of a partition whose end it had not
/// reached, for minutes, and to go on at once when it was assigned anew; other users of librdkafka report the same
/// (confluentinc/librdkafka#5153). So a reader that hears nothing for a while is assigned anew, from where it is. Where nothing
/// is to be heard that costs a fetch.
///
/// One thread.
public final class AssignedReader {
    /// Questions, wake-ups and statistics; its records come out of ``next(waitMilliseconds:)`` alone.
    public let consumer: Consumer
    private let silence: Duration
    private var positions: [TopicPartition: Int64] = [:]
    private var topics: [TopicHandleID: String] = [:]
    private var lastNews = ContinuousClock.now

    /// Makes the client; nothing is read before ``assign(_:)``.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, with a `group.id`, which is not joined.
    ///   - silence: it is assigned anew when nothing has come for so long.
    public init(properties: [(String, String)], silence: Duration = .seconds(10)) throws(KafkaError) {
        consumer = try Consumer(properties: properties)
        self.silence = silence
    }

    /// Reads exactly these partitions from now on, from these offsets, which may be ``Offset/beginning`` or ``Offset/end``.
    public func assign(_ starts: [(TopicPartition, offset: Int64)]) throws(KafkaError) {
        try consumer.assign(starts)
        positions = Dictionary(starts.map { ($0.0, $0.offset) }) { $1 }
        for (partition, _) in starts { topics[try consumer.topicID(of: partition.topic)] = partition.topic }
        lastNews = .now
    }

    /// Reads one partition no further.
    public func finish(_ partition: TopicPartition) throws(KafkaError) {
        positions[partition] = nil
        // What comes behind is not to be fetched for nothing.
        try consumer.pause([partition])
    }

    /// The next record or error, waiting up to this long for it; release it.
    ///
    /// A partition's end is told again after each new assignment.
    public func next(waitMilliseconds: Int32 = 0) throws(KafkaError) -> Message? {
        while let message = consumer.queue.next(waitMilliseconds: waitMilliseconds) {
            let isEnd = message.error?.code == KafkaError.Code.partitionEOF
            guard !message.isError || isEnd else { return message }
            guard let topic = topics[message.topic] else { return message }
            let partition = TopicPartition(topic: topic, partition: message.partition)
            guard let position = positions[partition] else {
                message.release()
                continue
            }
            lastNews = .now
            // A client that finds its offset out of range begins again.
            if !isEnd, message.offset < position {
                message.release()
                continue
            }
            positions[partition] = max(position, isEnd ? message.offset : message.offset + 1)
            return message
        }
        if ContinuousClock.now - lastNews >= silence, !positions.isEmpty {
            try assign(positions.map { ($0.key, offset: $0.value) })
        }
        return nil
    }

    /// Ends the client.
    public func close() { consumer.close() }
}
