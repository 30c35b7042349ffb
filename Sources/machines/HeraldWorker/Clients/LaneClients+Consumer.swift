import Dispatch
import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// The group and the records.
extension LaneClients {
    /// The longest time for one question to the brokers.
    private static let questionTimeout = Milliseconds.seconds(10)

    func subscribe() throws(KafkaError) { try consumer.subscribe(configuration.subscription) }

    func takeRebalance() -> Rebalance? { consumer.takeRebalance() }

    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Milliseconds) {
        let queries = consumer.queries
        let engine = configuration.engine
        let history = History(
            topics: Set(engine.topics.requests),
            begin: SystemClock.wall().advanced(by: -engine.duplicateWindow),
            size: engine.duplicateSize)
        let failures = RecentFailures(
            topic: engine.topics.deadLetter, properties: configuration.readerProperties,
            pushServices: engine.decoder.pushServices, begin: history.begin)
        helper.asyncAfter(deadline: .now() + .milliseconds(Int(pause.count))) { [mailbox, logger, lostOffsets] in
            let result = Result<[StartPosition], KafkaError> { () throws(KafkaError) in
                if partitions.isEmpty { return [] }
                let committed = try queries.committedAnswers(of: partitions, timeout: Self.questionTimeout)
                let found = history.starts(of: partitions.compactMap { committed.found[$0] }, queries: queries) {
                    Self.announceBlind($0, logger)
                }
                let (waiting, known) = (found.filter(\.isUnanswered), found.filter { !$0.isUnanswered })
                var starts = lostOffsets.judged(known, queries: queries)
                if history.size > 0 {
                    do throws(KafkaError) {
                        starts = try failures.added(to: starts, queries: queries)
                    } catch {
                        logger.warning(
                            "\(failures.topic) could not be read: an event that was dealt with before is called again if "
                                + "it comes again, because it may have failed: \(error)"
                                + error.advice(KafkaPermission(.read, on: .topic(failures.topic))))
                        starts = starts.map(\.withoutHistory)
                    }
                }
                return starts + waiting
                    + committed.failures.map { StartPosition(unanswered: $0.key, $0.value) }
            }
            mailbox.post(.starts(assignment: assignment, result))
        }
    }

    private static func announceBlind(_ partitions: [TopicPartition: KafkaError], _ logger: Logger) {
        for (partition, error) in partitions {
            logger.warning(
                "brokers can't look up a moment in \(partition): its history is read by count, which knows as many events "
                    + "again and may take longer; one of its batches may be damaged, or too large to unpack: \(error)",
                ["topic": .string(partition.topic), "partition": .int(Int(partition.partition))])
        }
    }

    func findRange(of partition: TopicPartition, _ question: RangeQuestion, after pause: Milliseconds) {
        let queries = consumer.queries
        let reach = configuration.reach.end(of: partition, now: now.monotonic)
        helper.asyncAfter(deadline: .now() + .milliseconds(Int(pause.count))) { [mailbox] in
            let range = Result<OffsetRange, KafkaError> { () throws(KafkaError) in
                let (low, high) = try queries.watermarks(of: partition, timeout: Self.questionTimeout)
                guard question.wanted < low else {
                    let younger = try question.newest.flatMap { newest throws(KafkaError) in
                        try queries.offsets(of: [partition], at: newest + 1, timeout: Self.questionTimeout)[partition]
                    }
                    // Records in open transactions were not taken: a log that ends with them before the offset is
                    // another one.
                    let end = try queries.ends(of: [partition], timeout: Self.questionTimeout)[partition]
                    return OffsetRange(low: low, high: end ?? high, younger: younger, reach: reach)
                }
                // Records are gone: whether another member had them first is worth a question, but not a failure.
                let committed = try? queries.committed([partition], timeout: Self.questionTimeout)
                return OffsetRange(low: low, high: high, committed: committed?.first?.offset)
            }
            mailbox.post(.range(partition, question, range))
        }
    }

    /// One at a time for all lanes: an unreadable batch may be as large, unpacked, as a client allows.
    private static let batchQueue = DispatchQueue(label: "herald.batches")

    func readBatch(of partition: TopicPartition, _ question: RangeQuestion) {
        let finder = BatchFinder(partition, properties: configuration.consumerProperties)
        Self.batchQueue.async { [mailbox] in
            let result = Result<BatchReading, KafkaError> { () throws(KafkaError) in
                try finder.reading(at: question.wanted)
            }
            mailbox.post(.batch(partition, question, result))
        }
    }

    func emptyRecord(of partition: TopicPartition, at offset: Int64) -> RetainedMessage { .empty }

    func assign(_ positions: [(TopicPartition, offset: Int64)]) throws(KafkaError) {
        for queue in queues { queue.dropRetained() }
        try consumer.assign(positions)
    }

    func unassign() throws(KafkaError) {
        queues.removeAll()
        try consumer.unassign()
    }

    func member() -> GroupMetadata? { consumer.groupMetadata() }

    var clusterID: String? { consumer.queries.clusterID }

    func commit(_ sequence: UInt64, _ positions: [CommitPosition]) -> KafkaError? {
        consumer.commit(positions, token: sequence, reportTo: commits)
    }

    func commitOutcomes(_ body: (UInt64, KafkaError?) -> Void) {
        commits.commits { sequence, error, results in body(sequence, error ?? results.compactMap(\.error).first) }
    }

    func consumerError() -> KafkaError? {
        let (notices, dropped) = consumer.takeNotices()
        for notice in notices { troubles.kafka(notice, now: SystemClock.monotonic()) }
        if dropped > 0 { logger.warning("librdkafka's log lines were dropped", ["count": .int(dropped)]) }
        return consumer.fatalError()
    }

    func openQueues(_ count: Int) {
        // The former queues' arrivals are not about these.
        arrivals = QueueArrivals(consumerWakeup)
        queues = (0..<count).map { number in
            let queue = consumer.makeQueue()
            queue.notify(arrivals, as: number)
            return queue
        }
    }

    func filledQueues(all: Bool, _ body: (Int) -> Void) {
        arrivals.take(body)
        guard all else { return }
        for number in queues.indices where queues[number].count > 0 { body(number) }
    }

    func forward(_ partition: TopicPartition, to queue: Int) { consumer.forward(partition, to: queues[queue]) }

    func next(from queue: Int) -> Message? { queues[queue].next() }

    func nextUnforwarded() -> Message? { consumer.queue.next() }

    var queueCounts: [Int] { queues.map(\.count) }

    var fetchedBytes: Int { consumer.fetchedBytes }

    func retainQueue(_ queue: Int) { queues[queue].retain() }

    func dropRetained(_ queue: Int) { queues[queue].dropRetained() }

    func seek(_ partition: TopicPartition, to offset: Int64) throws(KafkaError) {
        try consumer.seek([(partition, offset: offset)], timeout: .zero)
    }

    func pause(_ partition: TopicPartition) throws(KafkaError) { try consumer.pause([partition]) }

    func resume(_ partition: TopicPartition) throws(KafkaError) { try consumer.resume([partition]) }
}
