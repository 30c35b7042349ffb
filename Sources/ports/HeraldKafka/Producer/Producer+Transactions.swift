internal import CRDKafka
public import HeraldTime

/// The transactional calls. Each blocks and belongs on the helper thread; each error says whether the same call may be
/// made again, the transaction has to be aborted, or the producer recreated.
extension Producer {
    /// The time that an abort waits for the records to arrive.
    private static let registrationTimeout = Milliseconds.milliseconds(100)

    /// Claims the `transactional.id`, fences its earlier holder and ends that one's transaction; once per producer.
    public func initTransactions(timeout: Milliseconds) throws(KafkaError) {
        try KafkaError.check(
            consuming: rd_kafka_init_transactions(handle.client, Int32(clamping: timeout)))
    }

    /// Opens a transaction for all records produced from now on, without waiting for a broker.
    ///
    /// It throws a fatal error (``KafkaError/Code/inconsistent``) when part of a former transaction may still take
    /// effect: make another producer, whose epoch keeps that out.
    ///
    /// - A control request was not answered; its first copy may arrive in the next transaction (``ControlRequests``).
    /// - An abort gave up a record whose answer was lost. librdkafka (as of 2.0.2, `rd_kafka_toppar_purge_queues`)
    ///   gives its sequence number to the partition's next record. A broker that has the first takes the next for a
    ///   duplicate, acknowledges it and drops it (KIP-98, "Idempotent Producer Guarantees"): the next transaction would
    ///   be committed without it.
    public func beginTransaction() throws(KafkaError) {
        if let leftover { throw leftover }
        try KafkaError.check(consuming: rd_kafka_begin_transaction(handle.client))
    }

    /// Adds offsets of a consumer's group to the transaction; may take longer than its time-out.
    public func sendOffsets(
        _ positions: [CommitPosition], group: GroupMetadata, timeout: Milliseconds
    ) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        try KafkaError.check(
            consuming: rd_kafka_send_offsets_to_transaction(
                handle.client, list.pointer, group.pointer, Int32(clamping: timeout)))
    }

    /// Flushes and commits; ``deliveries(_:)`` must be served meanwhile.
    ///
    /// After a retriable error, only another call helps.
    public func commitTransaction(timeout: Milliseconds) throws(KafkaError) {
        try KafkaError.check(
            consuming: rd_kafka_commit_transaction(handle.client, Int32(clamping: timeout)))
    }

    /// Purges and aborts; ``deliveries(_:)`` must be served meanwhile.
    ///
    /// It does not prove that the coordinator's transaction has ended. If the answer for the first partition is
    /// outstanding, librdkafka (as of 2.0.2, `rd_kafka_txn_handle_AddPartitionsToTxn`) takes it for outdated, forgets
    /// its request, and does not ask for the end. That transaction is empty; it continues as the next one and expires
    /// sooner, whereupon the broker ends it and fences this producer. So the records get up to 100 ms to arrive first.
    public func abortTransaction(timeout: Milliseconds) throws(KafkaError) {
        let arrival = min(timeout, Self.registrationTimeout)
        // The result does not matter.
        _ = rd_kafka_flush(handle.client, Int32(clamping: arrival))
        try KafkaError.check(
            consuming: rd_kafka_abort_transaction(handle.client, Int32(clamping: timeout)))
    }
}
