internal import CRDKafka
public import HeraldTime

extension Consumer {
    /// Moves to other offsets in assigned partitions and discards their fetched records.
    ///
    /// - Parameter timeout: The time to wait for it; with 0 the seek starts and its outcome is not reported.
    public func seek(
        _ positions: [(TopicPartition, offset: Int64)], timeout: Milliseconds = .zero
    ) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        let limit = Int32(clamping: timeout)
        try KafkaError.check(consuming: rd_kafka_seek_partitions(handle.client, list.pointer, limit))
        // With no time to wait, each partition reports `_IN_PROGRESS`: the seek has begun.
        guard timeout > .zero else { return }
        if let error = list.firstError { throw error }
    }

    /// Stops fetching these partitions and discards their fetched records: expensive, for long pauses only.
    public func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = TopicPartitionList(partitions)
        try KafkaError.check(rd_kafka_pause_partitions(handle.client, list.pointer))
        if let error = list.firstError { throw error }
    }

    /// Fetches these partitions again.
    public func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = TopicPartitionList(partitions)
        try KafkaError.check(rd_kafka_resume_partitions(handle.client, list.pointer))
        if let error = list.firstError { throw error }
    }

    /// Commits offsets and their metadata; the outcome arrives in `outcomes` with this token.
    ///
    /// - Returns: The reason for sending nothing (then no outcome follows); `nil` when the commit is on its way.
    public func commit(
        _ positions: [CommitPosition], token: UInt64, reportTo outcomes: EventQueue
    ) -> KafkaError? {
        let list = TopicPartitionList(positions)
        let opaque = UnsafeMutableRawPointer(bitPattern: UInt(token))
        return KafkaError(rd_kafka_commit_queue(handle.client, list.pointer, outcomes.raw, nil, opaque))
    }

    /// Commits offsets for a group that has no members and waits for the answer; false when none came in time.
    package func commit(_ positions: [CommitPosition], within patience: Duration) throws(KafkaError) -> Bool {
        let outcomes = makeEventQueue()
        let end = ContinuousClock.now + patience
        var failure: KafkaError?
        for token in UInt64(1)... {
            if let error = commit(positions, token: token, reportTo: outcomes) { throw error }
            var isAnswered = false
            while !isAnswered, ContinuousClock.now < end {
                outcomes.commits { _, error, parts in
                    isAnswered = true
                    failure = error ?? parts.compactMap(\.error).first
                }
                queue.next(wait: .milliseconds(10))?.release()
            }
            if isAnswered, failure == nil { return true }
            // The coordinator of a broker's first group is still loading its state.
            guard failure?.kind == .settling, ContinuousClock.now < end else { break }
        }
        if let failure { throw failure }
        return false
    }

    /// This member's current identity, for ``Producer/sendOffsets(_:group:timeout:)``.
    ///
    /// Take it together with the batch that it stands for, never across a rebalance. `nil` without a `group.id`.
    public func groupMetadata() -> GroupMetadata? {
        GroupMetadata(rd_kafka_consumer_group_metadata(handle.client), of: handle)
    }
}

/// Blocking queries to a consumer's brokers, for any thread, such as the lane's helper thread.
///
/// It keeps the client alive: release it before the consumer is expected to be gone.
public final class ConsumerQueries: Sendable {
    private let handle: ClientHandle

    init(_ handle: ClientHandle) {
        self.handle = handle
    }

    /// The cluster's id as last reported by its brokers, without asking them; `nil` before that, or when the brokers
    /// have none.
    public var clusterID: String? { handle.clusterID(timeout: .zero) }

    /// Whether the brokers find records by time; librdkafka's embedded broker answers for every moment that no record
    /// is that recent.
    package var knowsTimes: Bool { !handle.isOfEmbeddedBroker(timeout: .zero) }

    /// The group's committed offsets for these partitions, with metadata; ``Offset/none`` for those without a commit.
    ///
    /// While a transaction on them is open, a `read_committed` consumer waits for its end, and may time out.
    public func committed(
        _ partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [CommitPosition] {
        try handle.outwaiting { () throws(KafkaError) in
            let list = TopicPartitionList(partitions)
            let limit = Int32(clamping: timeout)
            try KafkaError.check(rd_kafka_committed(handle.client, list.pointer, limit))
            if let error = list.firstError { throw error }
            handle.noteAnswer()
            return list.elements.map(\.commitPosition)
        }
    }

    /// Commits offsets as the consumer's current member and waits for the answer.
    package func commit(_ positions: [CommitPosition]) throws(KafkaError) {
        let list = TopicPartitionList(positions)
        try KafkaError.check(rd_kafka_commit(handle.client, list.pointer, 0))
        if let error = list.firstError { throw error }
    }

    /// The offset of each partition's first record at or after a moment (milliseconds since the Unix epoch); partitions
    /// without such a record are left out.
    ///
    /// An embedded broker finds none.
    public func offsets(
        of partitions: [TopicPartition], at milliseconds: Int64, timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try offsets(
            at: Dictionary(partitions.map { ($0, milliseconds) }) { $1 }, timeout: timeout)
    }

    /// The same with a moment for each partition.
    public func offsets(
        at moments: [TopicPartition: Int64], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = try handle.outwaiting { () throws(KafkaError) in
            do throws(KafkaError) {
                return try ask(moments, timeout)
            } catch {
                guard error.code == KafkaError.Code.notLeaderForPartition else { throw error }
                // librdkafka 2.0 asks the former leader for minutes: only a question about the topic tells it of the new one.
                for topic in Set(moments.keys.map(\.topic)) { _ = try description(of: topic, timeout: timeout) }
                return try ask(moments, timeout)
            }
        }
        handle.noteAnswer()
        var found: [TopicPartition: Int64] = [:]
        for element in list.elements where element.offset >= 0 { found[element.topicPartition] = element.offset }
        return found
    }

    private func ask(
        _ moments: [TopicPartition: Int64], _ timeout: Milliseconds
    ) throws(KafkaError) -> TopicPartitionList {
        let list = TopicPartitionList(moments.map { ($0.key, offset: $0.value) })
        try KafkaError.check(rd_kafka_offsets_for_times(handle.client, list.pointer, Int32(clamping: timeout)))
        if let error = list.firstError { throw error }
        return list
    }

    /// The end of each partition for this consumer (`read_committed`: before the first open transaction).
    ///
    /// An embedded broker does not report it.
    public func ends(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        // ListOffsets' timestamp for the latest offset.
        try offsets(of: partitions, at: -1, timeout: timeout)
    }

    /// The names of all topics that there are and that this user may see.
    package func topics(timeout: Milliseconds) throws(KafkaError) -> [String] {
        try handle.metadata(of: nil, allTopics: true, timeout).topics.filter { $0.error == nil }.map(\.name)
    }

    /// The partitions of a topic; throws the broker's error for a missing or forbidden one.
    public func partitions(of topic: String, timeout: Milliseconds) throws(KafkaError) -> [TopicPartition] {
        try description(of: topic, timeout: timeout)?.partitions
            .map { TopicPartition(topic: topic, partition: $0.id) } ?? []
    }

    func description(of topic: String, timeout: Milliseconds) throws(KafkaError) -> ClusterMetadata.Topic? {
        let answer = try handle.metadata(
            of: TopicHandle(topic, of: handle), allTopics: false, timeout)
        guard let found = answer.topics.first(where: { $0.name == topic }) else { return nil }
        if let error = found.error { throw error }
        return found
    }

    /// The beginning of each partition.
    ///
    /// An embedded broker does not report it.
    public func beginnings(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        // ListOffsets' timestamp for the earliest offset.
        try offsets(of: partitions, at: -2, timeout: timeout)
    }

    /// The partition's first offset, and the offset of its next record (open transactions included).
    public func watermarks(
        of partition: TopicPartition, timeout: Milliseconds
    ) throws(KafkaError) -> (low: Int64, high: Int64) {
        // librdkafka 2.0 ignores the next query's time-out: without a leader it waits for socket.timeout.ms, and again
        // for each retry (rd_kafka_query_watermark_offsets). This query honours it, and its leader then answers both.
        _ = try beginnings(of: [partition], timeout: timeout)
        return try handle.outwaiting { () throws(KafkaError) in
            var low: Int64 = 0
            var high: Int64 = 0
            try KafkaError.check(
                rd_kafka_query_watermark_offsets(
                    handle.client, partition.topic, partition.partition, &low, &high, Int32(clamping: timeout)))
            return (low, high)
        }
    }
}

/// A consumer's membership (group, generation, member) at one moment.
public final class GroupMetadata: @unchecked Sendable {
    let pointer: OpaquePointer
    private let client: ClientHandle

    init?(_ pointer: OpaquePointer?, of client: ClientHandle) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.client = client
    }

    deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }
}
