internal import CRDKafka

/// The transactional calls. Each blocks and belongs on the helper thread; each error says whether the same call may be
/// made again, the transaction has to be aborted, or the producer is of no more use.
extension Producer {
    /// Claims the `transactional.id`, fences its earlier holder and ends that one's transaction; once per producer.
    public func initTransactions(timeoutMilliseconds: Int) throws(KafkaError) {
        try KafkaError.check(
            consuming: rd_kafka_init_transactions(handle.client, ClientHandle.milliseconds(timeoutMilliseconds)))
    }

    /// Opens a transaction, to which belongs what is produced from now on, without waiting for a broker.
    ///
    /// After an abort that gave up a record whose answer was lost it throws a fatal error: make another producer.
    /// librdkafka (as of 2.0.2, `rd_kafka_toppar_purge_queues`) gives the number of such a record to the partition's
    /// next one. A broker that has the first takes the next for the same, acknowledges it and drops it (KIP-98,
    /// "Idempotent Producer Guarantees"): the next transaction would be committed without it.
    public func beginTransaction() throws(KafkaError) {
        if let outOfStep { throw outOfStep }
        try KafkaError.check(consuming: rd_kafka_begin_transaction(handle.client))
    }

    /// Makes offsets of a consumer's group part of the transaction; may take longer than its time-out.
    public func sendOffsets(
        _ positions: [CommitPosition], group: GroupMetadata, timeoutMilliseconds: Int
    ) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        try KafkaError.check(
            consuming: rd_kafka_send_offsets_to_transaction(
                handle.client, list.pointer, group.pointer, ClientHandle.milliseconds(timeoutMilliseconds)))
    }

    /// Flushes and commits; ``deliveries(_:)`` must be served meanwhile.
    ///
    /// After a retriable error only this call helps.
    public func commitTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try KafkaError.check(
            consuming: rd_kafka_commit_transaction(handle.client, ClientHandle.milliseconds(timeoutMilliseconds)))
    }

    /// Purges and aborts; ``deliveries(_:)`` must be served meanwhile.
    public func abortTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try KafkaError.check(
            consuming: rd_kafka_abort_transaction(handle.client, ClientHandle.milliseconds(timeoutMilliseconds)))
    }
}
