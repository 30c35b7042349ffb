internal import CRDKafka
public import HeraldThreads

/// One partition's part in a finished commit.
public struct CommitResult: Sendable, Equatable {
    /// The partition.
    public var partition: TopicPartition
    /// The offset to commit.
    public var offset: Int64
    /// The reason for its failure, or `nil`.
    public var error: KafkaError?
}

/// The queue on which the outcomes of commits arrive.
///
/// It belongs to the consumer's thread.
public final class EventQueue {
    let raw: OpaquePointer?
    private let handle: ClientHandle
    private var notified: Wakeup?

    init(_ raw: OpaquePointer?, of handle: ClientHandle) {
        self.raw = raw
        self.handle = handle
    }

    deinit {
        raw?.signal(nil)
        rd_kafka_queue_destroy(raw)
    }

    /// Hands over each outcome that has arrived: its token, the error of the whole, and each partition's part.
    ///
    /// Even when the error of the whole is `nil`, a partition may have an error of its own. When it is not, some
    /// partitions may be committed all the same: librdkafka applies the error of one to all of them.
    public func commits(_ body: (UInt64, KafkaError?, [CommitResult]) -> Void) {
        while let event = rd_kafka_queue_poll(raw, 0) {
            defer { rd_kafka_event_destroy(event) }
            guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT else { continue }
            let list = TopicPartitionList.elements(of: rd_kafka_event_topic_partition_list(event))
            let results = list.map {
                CommitResult(partition: $0.topicPartition, offset: $0.offset, error: $0.error)
            }
            body(
                UInt64(UInt(bitPattern: rd_kafka_event_opaque(event))),
                KafkaError(rd_kafka_event_error(event)), results)
        }
    }

    /// Signals the wake-up when the empty queue fills; see ``MessageQueue/notify(_:)``.
    public func notify(_ wakeup: Wakeup) {
        raw?.signal(wakeup)
        notified = wakeup
    }
}
