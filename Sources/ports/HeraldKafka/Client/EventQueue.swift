internal import CRDKafka
public import HeraldThreads

/// One partition's part in a commit that has ended.
public struct CommitResult: Sendable, Equatable {
    /// The partition.
    public var partition: TopicPartition
    /// The offset that was to be committed.
    public var offset: Int64
    /// Why it was not, or `nil`.
    public var error: KafkaError?
}

/// Where the outcomes of commits arrive.
///
/// One thread, the consumer's.
public final class EventQueue {
    let raw: OpaquePointer?
    private let handle: ClientHandle
    private var notified: Wakeup?

    /// Takes over a reference to the queue.
    init(_ raw: OpaquePointer?, of handle: ClientHandle) {
        self.raw = raw
        self.handle = handle
    }

    deinit {
        raw?.signal(nil)
        rd_kafka_queue_destroy(raw)
    }

    /// Hands over every outcome that has come: its token, the error of the whole, and each partition's part.
    ///
    /// With `nil` for the whole a partition may still have an error of its own. With an error of the whole some partitions
    /// may be committed nevertheless: librdkafka lays the error of one on all of them.
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

    /// Signals the wake-up when the queue was empty and fills; see ``MessageQueue/notify(_:)``.
    public func notify(_ wakeup: Wakeup) {
        raw?.signal(wakeup)
        notified = wakeup
    }
}
