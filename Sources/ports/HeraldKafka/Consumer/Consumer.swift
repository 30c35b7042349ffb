internal import CRDKafka
package import HeraldThreads
import HeraldTime

/// A member of a consumer group whose rebalances are answered when the caller is ready, not in a callback.
///
/// One thread uses it and its queues, without ever blocking but in ``close()``; what may block is said so, and can be
/// called on another thread through ``queries``. Only the eager assignors (`range`, `roundrobin`) are supported; `range`
/// is the default. Offsets are committed by ``commit(_:token:reportTo:)`` alone.
public final class Consumer {
    /// The consumer's own queue: rebalances, errors, and the messages of partitions that are not forwarded.
    public let queue: MessageQueue
    /// The blocking questions, for any thread.
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
        // Everything comes through the consumer's queue; rd_kafka_poll() is never called from now on.
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
    /// What was forwarded before is not any more: ``forward(_:to:)`` has to be called again.
    ///
    /// - Parameter positions: offsets may be ``Offset/beginning``, ``Offset/end`` or ``Offset/stored``.
    public func assign(_ positions: [(TopicPartition, offset: Int64)]) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        try KafkaError.check(rd_kafka_assign(handle.client, list.pointer))
        waitUntilForwardingEnded()
    }

    /// Waits until the client's main thread has stopped what was assigned before.
    ///
    /// It stops each partition after `rd_kafka_assign` has returned, and with that ends its forwarding
    /// (`rd_kafka_toppar_fetch_stop`), even one that was asked for meanwhile: the records would stay in a queue that no
    /// thread reads. It takes its requests in order, so with its next answer all of them are stopped.
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

    /// From now on the partition's messages and errors come out of `target`; to be called after each ``assign(_:)``.
    ///
    /// What is in the consumer's own queue already still comes out there.
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

    /// The consumer's fatal error, if any: recreate the client then.
    public func fatalError() -> KafkaError? { handle.fatalError() }

    /// Log lines and errors since the last call, and how many more were dropped; from any of the client's threads.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) { handle.callbacks.notices.take() }

    /// What librdkafka has written of this client since the last call (`statistics.interval.ms`), for
    /// ``ClientStatistics/init(json:)``.
    public func takeStatistics() -> [UInt8]? { handle.takeStatistics() }

    /// How long brokers have made this client wait since the last call.
    public func takeThrottleTime() -> ThrottleTime { handle.takeThrottleTime() }

    /// How many bytes the brokers have answered to fetches so far, compressed as they came.
    public var fetchedBytes: Int { handle.callbacks.fetches.bytes }

    /// From now on signals `wakeup` for each 4 MiB of ``fetchedBytes``.
    package func notifyFetched(_ wakeup: Wakeup) { handle.callbacks.fetches.wake(wakeup) }

    /// Begins to leave the group without blocking: go on polling ``queue`` until ``isClosed``.
    ///
    /// A last revoke may come and is answered as always. A static member (`group.instance.id`) does not leave.
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

    /// Leaves the group (not so a static member) and blocks until that is done; partitions that are left are given up.
    ///
    /// On the consumer's thread; after ``beginClosing()`` it waits for the rest of it. Commits whose outcome has not come
    /// yet are waited for. Release all messages first. The client itself is destroyed when this object and its queues are
    /// let go.
    public func close() {
        handle.callbacks.answersAtOnce = true
        if isClosing {
            // A revoke that was noted and not answered; a no-op otherwise.
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
