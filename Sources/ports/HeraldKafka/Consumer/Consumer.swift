internal import CRDKafka
package import HeraldThreads
import HeraldTime

/// A member of a consumer group that answers rebalances when the caller is ready, not in a callback.
///
/// One thread uses it and its queues; only ``close()`` blocks that thread. Calls that may block are documented as such
/// and available on another thread through ``queries``. Only the eager assignors (`range`, `roundrobin`) are supported;
/// `range` is the default. Offsets are committed by ``commit(_:token:reportTo:)`` alone.
public final class Consumer {
    /// The consumer's own queue: rebalances, errors, and the messages of partitions that are not forwarded.
    public let queue: MessageQueue
    /// The blocking queries, for any thread.
    public let queries: ConsumerQueries

    let handle: ClientHandle
    private var topics: [String: TopicHandle] = [:]
    private var isClosing = false

    /// Makes the client; nothing is consumed before ``subscribe(_:)`` or ``assign(_:)``.
    ///
    /// - Parameter properties: librdkafka's properties, `group.id` among them. `enable.auto.commit` and
    ///   `enable.auto.offset.store` are false, `partition.assignment.strategy` is `range` unless given.
    /// - Throws: an error that names the wrong property.
    public init(properties: ClientProperties) throws(KafkaError) {
        let configuration = ClientConfiguration()
        try configuration.set(
            properties: properties,
            defaults: [
                ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
                ("partition.assignment.strategy", "range"),
            ])
        handle = try ClientHandle(RD_KAFKA_CONSUMER, configuration)
        // All events come through the consumer's queue; rd_kafka_poll() is never called from now on.
        try KafkaError.check(rd_kafka_poll_set_consumer(handle.client))
        queue = MessageQueue(rd_kafka_queue_get_consumer(handle.client), of: handle)
        queries = ConsumerQueries(handle)
    }

    /// Joins the group for these topics, names or regular expressions (`^…`); assignments follow as rebalances.
    public func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = TopicPartitionList(topics.map { TopicPartition(topic: $0, partition: -1) })
        try KafkaError.check(rd_kafka_subscribe(handle.client, list.pointer))
    }

    /// The oldest rebalance that was noted while polling and not taken yet.
    public func takeRebalance() -> Rebalance? {
        handle.callbacks.rebalances.isEmpty ? nil : handle.callbacks.rebalances.removeFirst()
    }

    /// Starts consuming exactly these partitions from these offsets: the answer to ``Rebalance/assign(_:)``.
    ///
    /// This ends all forwarding: call ``forward(_:to:)`` again.
    ///
    /// - Parameter positions: Offsets may be ``Offset/beginning``, ``Offset/end`` or ``Offset/stored``.
    public func assign(_ positions: [(TopicPartition, offset: Int64)]) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        try KafkaError.check(rd_kafka_assign(handle.client, list.pointer))
        waitUntilForwardingEnded()
    }

    /// Waits until the client's main thread has stopped the former assignment.
    ///
    /// The main thread stops each partition after `rd_kafka_assign` has returned, which ends its forwarding
    /// (`rd_kafka_toppar_fetch_stop`), even one requested meanwhile: records would stay in a queue that no thread
    /// reads. It handles requests in order, so its next answer proves that all partitions are stopped.
    private func waitUntilForwardingEnded() {
        var assigned: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        _ = rd_kafka_assignment(handle.client, &assigned)
        if let assigned { rd_kafka_topic_partition_list_destroy(assigned) }
    }

    /// Gives all partitions up: the answer to ``Rebalance/revoke(_:lost:)``, which the group waits for.
    public func unassign() throws(KafkaError) {
        try KafkaError.check(rd_kafka_assign(handle.client, nil))
    }

    /// A new queue to forward partitions to.
    public func makeQueue() -> MessageQueue {
        MessageQueue(rd_kafka_queue_new(handle.client), of: handle)
    }

    /// A new queue for the outcomes of commits.
    public func makeEventQueue() -> EventQueue {
        EventQueue(rd_kafka_queue_new(handle.client), of: handle)
    }

    /// Directs the partition's messages and errors to `target`; call it after each ``assign(_:)``.
    ///
    /// Messages that are already in the consumer's own queue still come out there.
    public func forward(_ partition: TopicPartition, to target: MessageQueue) {
        let source = rd_kafka_queue_get_partition(handle.client, partition.topic, partition.partition)
        guard let source else { return }
        rd_kafka_queue_forward(source, target.raw)
        rd_kafka_queue_destroy(source)
    }

    /// The identity that messages of this topic carry; it does not change while this consumer lives.
    public func topicID(of name: String) throws(KafkaError) -> TopicHandleID {
        if let known = topics[name] { return TopicHandleID(known.pointer) }
        let made = try TopicHandle(name, of: handle)
        topics[name] = made
        return TopicHandleID(made.pointer)
    }

    /// The consumer's fatal error, if any; recreate the client then.
    public func fatalError() -> KafkaError? { handle.fatalError() }

    /// Log lines and errors since the last call from any of the client's threads, and the number dropped.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) { handle.callbacks.notices.take() }

    /// librdkafka's statistics of this client since the last call (`statistics.interval.ms`), for
    /// ``ClientStatistics/init(json:)``.
    public func takeStatistics() -> [UInt8]? { handle.takeStatistics() }

    /// The time that brokers made this client wait since the last call.
    public func takeThrottleTime() -> ThrottleTime { handle.takeThrottleTime() }

    /// The bytes of all fetch responses so far, compressed as received.
    public var fetchedBytes: Int { handle.callbacks.fetches.bytes }

    /// Signals `wakeup` for each 4 MiB of ``fetchedBytes`` from now on.
    package func notifyFetched(_ wakeup: Wakeup) { handle.callbacks.fetches.wake(wakeup) }

    /// Begins to leave the group without blocking: go on polling ``queue`` until ``isClosed``.
    ///
    /// A last revoke may come and is answered as usual. A static member (`group.instance.id`) does not leave.
    public func beginClosing() throws(KafkaError) {
        let last = rd_kafka_queue_new(handle.client)
        if let error = KafkaError(consuming: rd_kafka_consumer_close_queue(handle.client, last)) {
            rd_kafka_queue_destroy(last)
            throw error
        }
        queue.replace(with: last)
        isClosing = true
    }

    /// Whether the consumer has left its group.
    public var isClosed: Bool { rd_kafka_consumer_closed(handle.client) != 0 }

    /// Leaves the group (unless the member is static), gives up the remaining partitions and blocks until that is done.
    ///
    /// Call it on the consumer's thread, with all messages released; after ``beginClosing()`` it waits for the rest. It
    /// waits for outstanding commits. The client itself is destroyed when this object and its queues are released.
    public func close() {
        handle.callbacks.answersAtOnce = true
        if isClosing {
            // Answers a revoke that was noted and not answered; a no-op otherwise.
            rd_kafka_assign(handle.client, nil)
            while !isClosed { queue.next(wait: .milliseconds(100))?.release() }
            queue.release()
            return
        }
        queue.release()
        let result = rd_kafka_consumer_close(handle.client)
        if result != RD_KAFKA_RESP_ERR_NO_ERROR {
            handle.callbacks.note(result.rawValue, nil, of: handle.client)
        }
    }
}
