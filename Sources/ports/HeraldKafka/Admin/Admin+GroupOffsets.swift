internal import CRDKafka
internal import HeraldThreads
public import HeraldTime

extension Admin {
    /// The committed offsets of a group with their metadata; partitions without a commit are left out.
    ///
    /// The client must have a `group.id`: when an answer names another coordinator, librdkafka 2.0 looks for the
    /// coordinator of its own group, and crashes without one (`rd_kafka_handle_OffsetFetch`). Only the coordinator is
    /// asked, for the reason given at ``describeGroup(_:timeout:)``.
    public func committed(
        by group: String, _ partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [CommitPosition] {
        try handle.outwaiting { () throws(KafkaError) in try offsets(of: group, partitions, timeout: timeout) }
    }

    private func offsets(
        of group: String, _ partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [CommitPosition] {
        let end = ContinuousClock.now + timeout.duration
        guard try description(of: group, timeout: timeout).exists, let broker = coordinators.withLock({ $0[group] })
        else {
            return []
        }
        let list = TopicPartitionList(partitions)
        var wish = rd_kafka_ListConsumerGroupOffsets_new(group, list.pointer)
        defer { rd_kafka_ListConsumerGroupOffsets_destroy(wish) }
        let queue = rd_kafka_queue_new(handle.client)
        defer { rd_kafka_queue_destroy(queue) }
        let left = Milliseconds(end - .now)
        let options = try makeOptions(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, broker: broker, timeout: left)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_ListConsumerGroupOffsets(handle.client, &wish, 1, options, queue)
        return try answer(in: queue, timeout: left, read: Self.positions)
    }

    private static func positions(_ event: OpaquePointer) throws(KafkaError) -> [CommitPosition] {
        var count = 0
        let groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
            rd_kafka_event_ListConsumerGroupOffsets_result(event), &count)
        guard count == 1, let group = groups?[0] else { throw KafkaError(code: KafkaError.Code.timedOut) }
        if let error = rd_kafka_group_result_error(group) { throw KafkaError(error) }
        return TopicPartitionList.elements(of: rd_kafka_group_result_partitions(group)).map(\.commitPosition)
            .filter { $0.offset >= 0 }
    }
}
