import Dispatch
import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

extension Lane {
    func hear(_ rebalance: Rebalance) {
        assignment += 1
        switch rebalance {
        case .assign(let partitions):
            meter.assignments += 1
            if !engine.sourceList.isEmpty {
                // The group gave the former ones away, and asked for nothing.
                logger.warning("partitions lost")
                engine.lost(now: moment)
                carryOut(now: moment)
            }
            pendingAssignment = partitions
            askCommitted(partitions)
        case .revoke(_, let lost):
            if lost { meter.losses += 1 } else { meter.revocations += 1 }
            logger.info(lost ? "partitions lost" : "partitions revoked")
            if pendingAssignment != nil {
                pendingAssignment = nil
                unassign()
            } else if lost {
                engine.lost(now: moment)
            } else {
                engine.revoked(now: moment)
            }
        }
    }

    private var history: History {
        let engine = configuration.engine
        return History(
            topics: Set(configuration.topics.requests),
            begin: SystemClock.wall().advanced(byMilliseconds: -engine.duplicateWindow), size: engine.duplicateSize)
    }

    private func askCommitted(_ partitions: [TopicPartition], after pause: DispatchTimeInterval = .seconds(0)) {
        let queries = consumer.queries
        let mailbox = self.mailbox
        let assignment = self.assignment
        let history = history
        let failures = FailedBefore(
            topic: configuration.topics.deadLetter, properties: configuration.readerProperties,
            pushServices: configuration.engine.decoder.pushServices, begin: history.begin, most: history.size)
        let logger = logger
        helper.asyncAfter(deadline: .now() + pause) {
            let result = Result<[StartPosition], KafkaError> { () throws(KafkaError) in
                if partitions.isEmpty { return [] }
                let committed = try queries.committed(partitions, timeoutMilliseconds: 10_000)
                let starts = try history.starts(of: committed, queries: queries)
                do throws(KafkaError) {
                    return try failures.added(to: starts, queries: queries)
                } catch {
                    logger.warning(
                        "\(failures.topic) could not be read: an event that failed before and comes again ends as a "
                            + "duplicate: \(error); allow Read on it with kafka-acls if that is the reason")
                    return starts
                }
            }
            mailbox.post(.committed(assignment: assignment, result))
        }
    }

    /// The helper has found out where to begin: now the assignment is answered.
    func answerAssignment(_ assignment: Int, _ result: Result<[StartPosition], KafkaError>) {
        guard assignment == self.assignment, let partitions = pendingAssignment else { return }
        switch result {
        case .failure(let error):
            logger.warning("what was committed is not known yet: \(error)")
            askCommitted(partitions, after: Self.questionPause)
        case .success(let positions):
            pendingAssignment = nil
            begin(positions)
        }
    }

    /// Consumes these partitions from what was committed, from the beginning where nothing was.
    private func begin(_ starts: [StartPosition]) {
        var topics: [ConsumedTopic] = []
        var assigned: [AssignedPartition] = []
        var known: [(TopicPartition, offset: Int64)] = []
        for start in starts {
            let position = start.committed
            let name = position.partition.topic
            // Named like a retry topic by the pattern, but with a delay beyond all bounds: left alone.
            guard let role = configuration.role(of: name) else { continue }
            let isFresh = position.offset == Offset.none
            known.append((position.partition, isFresh ? Offset.beginning : start.history ?? position.offset))
            let topic = topics.firstIndex { $0.name == name } ?? topics.count
            if topic == topics.count { topics.append(ConsumedTopic(name: name, role: role)) }
            assigned.append(
                AssignedPartition(
                    topic: topic, number: position.partition.partition, startOffset: isFresh ? nil : position.offset,
                    metadata: isFresh ? "" : position.metadata, failed: start.failed))
        }
        groupMetadata = consumer.groupMetadata()
        read(known)
        guard end == nil else { return }
        engine.assigned(assigned, topics: topics, fetched: consumer.fetchedBytes, now: moment)
        guard engine.isTaking else { return }
        queues = engine.sourceList.map { _ in
            let queue = consumer.makeQueue()
            queue.notify(consumerWakeup.descriptor)
            return queue
        }
        forward()
        logger.info("partitions assigned", ["count": .int(assigned.count)])
    }

    /// Answers a revoked assignment; the engine has given everything back before.
    func unassign() {
        releaseEverything()
        queues.removeAll()
        groupMetadata = nil
        do {
            try consumer.unassign()
        } catch {
            logger.warning("the partitions could not be given back: \(error)")
        }
        engine.unassigned(now: moment)
    }

    /// Reads a partition again from the record that the engine did not take.
    func rewind(_ partition: Int32) {
        guard let offset = engine.nextOffset(of: partition) else { return }
        let position = engine.position(of: partition)
        do {
            try consumer.seek(
                [(TopicPartition(topic: position.topic, partition: position.number), offset: offset)],
                timeoutMilliseconds: 0)
        } catch {
            // It is asked for again.
            logger.warning("\(position.topic) [\(position.number)] could not be read again from \(offset): \(error)")
        }
    }

    /// What lies in a paused source's queue is void, but kept until somebody asks for it.
    private func letGoOfPaused(_ partition: Int32) {
        guard aside == nil, let source = engine.sourceList.firstIndex(where: { $0.partitions.last == partition }),
            let message = queues[source].next()
        else { return }
        offer(message, source: source, now: moment)
    }

    func setPaused(_ isPaused: Bool, _ partition: Int32) {
        let position = engine.position(of: partition)
        let names = [TopicPartition(topic: position.topic, partition: position.number)]
        do {
            if isPaused {
                try consumer.pause(names)
                letGoOfPaused(partition)
            } else {
                try consumer.resume(names)
            }
        } catch {
            logger.warning("\(isPaused ? "pausing" : "resuming") \(names[0]) failed: \(error)")
        }
    }
}
