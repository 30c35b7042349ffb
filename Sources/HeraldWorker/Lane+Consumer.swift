import Dispatch
import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

extension Lane {
    // MARK: Records

    /// Takes records as long as the engine wants any, for one turn of the loop.
    func take(now: Moment) {
        mayHaveMore = false
        if let (message, source) = aside {
            aside = nil
            offer(message, source: source, now: now)
            carryOut(now: now)
            guard aside == nil else { return }
        }
        for _ in 0..<Self.takesPerTurn {
            guard let source = engine.nextSource() else { return }
            guard let message = queues[source].next() else {
                engine.exhausted(source: source)
                continue
            }
            offer(message, source: source, now: now)
            carryOut(now: now)
            if aside != nil { return }
        }
        mayHaveMore = true
    }

    private func offer(_ message: Message, source: Int, now: Moment) {
        if message.isError {
            hearError(message)
            return
        }
        headers.removeAll()
        message.forEachHeader { name, value in headers.append(name: name, value: value) }
        let timestamp = message.timestampMilliseconds
        let intake = message.withValue { value in
            engine.record(
                source: source, partition: message.partition, offset: message.offset,
                timestamp: timestamp < 0 ? nil : WallTime(milliseconds: timestamp), value: value, headers: headers,
                now: now)
        }
        switch intake {
        case .kept(let slot): messages[Int(slot.index)] = message
        case .done: message.release()
        case .noRoom: aside = (message, source)
        }
    }

    /// Serves the consumer's own queue: rebalances, errors, and records that came before their partition was forwarded.
    func hearConsumer() {
        takeUnforwarded()
        while let rebalance = consumer.takeRebalance() {
            hear(rebalance)
            carryOut(now: moment)
        }
        let (notices, dropped) = consumer.takeNotices()
        for notice in notices { logger.kafka(notice) }
        if dropped > 0 { logger.warning("librdkafka's log lines were dropped", ["count": .int(dropped)]) }
        if let error = consumer.fatalError() {
            end = .failed("the consumer can't go on: \(error). Start the worker again.")
        }
    }

    /// Takes the records that came before their partition was forwarded; before anything is taken from its queue, because
    /// what is taken late would count as dealt with.
    private func takeUnforwarded() {
        while let message = consumer.queue.next() {
            if message.isError {
                hearError(message)
            } else if aside == nil, let source = source(of: message) {
                offer(message, source: source, now: moment)
            } else {
                // Not assigned any more, or no room: the partition goes back to this record.
                let position = TopicPartition(topic: message.topicName(), partition: message.partition)
                try? consumer.seek([(position, offset: message.offset)], timeoutMilliseconds: 0)
                message.release()
            }
            carryOut(now: moment)
        }
    }

    private func source(of message: Message) -> Int? {
        guard let index = engine.index(of: message.partition, in: message.topicName()) else { return nil }
        return engine.sourceList.firstIndex { $0.partitions.contains(index) }
    }

    private func hearError(_ message: Message) {
        defer { message.release() }
        guard let error = message.error else { return }
        let partition = TopicPartition(topic: message.topicName(), partition: message.partition)
        switch error.code {
        case KafkaError.Code.autoOffsetReset, KafkaError.Code.offsetOutOfRange:
            let queries = consumer.queries
            let mailbox = self.mailbox
            let reading = self.reading
            helper.async {
                let range = Result<OffsetRange, KafkaError> { () throws(KafkaError) in
                    let (low, high) = try queries.watermarks(of: partition, timeoutMilliseconds: 10_000)
                    return OffsetRange(low: low, high: high)
                }
                mailbox.post(.range(partition, reading: reading, range))
            }
        case KafkaError.Code.topicAuthorizationFailed where engine.counters.taken == 0:
            end = .failed(
                "Herald may not read \(partition.topic): run kafka-acls --add --allow-principal User:NAME "
                    + "--operation Read --operation Describe --topic \(partition.topic).")
        case KafkaError.Code.groupAuthorizationFailed where engine.counters.taken == 0:
            end = .failed(
                "Herald may not join its group: run kafka-acls --add --allow-principal User:NAME --operation Read "
                    + "--group NAME (kafka.group).")
        case KafkaError.Code.partitionEOF:
            guard let index = engine.index(of: partition.partition, in: partition.topic) else { return }
            engine.endReached(of: index, at: message.offset)
        case KafkaError.Code.maxPollExceeded:
            break
        default:
            logger.warning(
                "\(error)",
                ["topic": .string(partition.topic), "partition": .int(Int(partition.partition))])
        }
    }

    /// The offset to take next is not there: records were lost to retention, or the topic was made anew.
    func judgeRange(of partition: TopicPartition, reading: Int, _ result: Result<OffsetRange, KafkaError>) {
        // While partitions go, an assignment would be the wrong answer to the group.
        guard engine.isTaking, let index = engine.index(of: partition.partition, in: partition.topic),
            let wanted = engine.nextOffset(of: index)
        else { return }
        switch result {
        case .failure(let error):
            end = .failed(
                "offset \(wanted) of \(partition) is out of range, and its range is not known: \(error). "
                    + "Start the worker again when the broker is well.")
        case .success(let range):
            switch OffsetReset.decide(wanted: wanted, low: range.low, high: range.high) {
            case .lost(let count):
                end = .failed(
                    "\(count) records of \(partition) are lost: the group stands at offset \(wanted), and the first "
                        + "that is left is \(range.low). Lengthen the topic's retention; to go on without them, stop "
                        + "all workers and run kafka-consumer-groups --group GROUP --topic "
                        + "\(partition.topic):\(partition.partition) --reset-offsets --to-earliest --execute.")
            case .madeAnew:
                logger.warning(
                    "the topic was made anew: beginning at its first record",
                    [
                        "topic": .string(partition.topic), "partition": .int(Int(partition.partition)),
                        "committed": .int(Int(wanted)),
                    ])
                engine.restart(partition: index, at: range.low)
                readAgain()
            case .none:
                // Read again since, or good after all.
                if reading == self.reading { readAgain() }
            }
        }
    }

    /// Reads every partition from what the engine takes next.
    ///
    /// librdkafka stops reading a partition whose offset is out of range, and no seek moves it (`_STATE`); an assignment
    /// does. The engine keeps what is under way.
    private func readAgain() {
        let positions = engine.sourceList.flatMap(\.partitions).map { index in
            let position = engine.position(of: index)
            return (
                TopicPartition(topic: position.topic, partition: position.number),
                offset: engine.nextOffset(of: index) ?? Offset.beginning
            )
        }
        read(positions)
        guard end == nil else { return }
        forward()
    }

    private func read(_ positions: [(TopicPartition, offset: Int64)]) {
        reading += 1
        do {
            try consumer.assign(positions)
        } catch {
            end = .failed("the partitions could not be taken: \(error). Start the worker again.")
        }
    }

    /// Gives each of the engine's sources its queue's records.
    private func forward() {
        for (source, queue) in zip(engine.sourceList, queues) {
            for partition in source.partitions {
                let position = engine.position(of: partition)
                consumer.forward(TopicPartition(topic: position.topic, partition: position.number), to: queue)
            }
        }
        takeUnforwarded()
    }

    // MARK: Assignments

    private func hear(_ rebalance: Rebalance) {
        assignment += 1
        switch rebalance {
        case .assign(let partitions):
            pendingAssignment = partitions
            askCommitted(partitions)
        case .revoke(_, let lost):
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

    private func askCommitted(_ partitions: [TopicPartition], after pause: DispatchTimeInterval = .seconds(0)) {
        let queries = consumer.queries
        let mailbox = self.mailbox
        let assignment = self.assignment
        helper.asyncAfter(deadline: .now() + pause) {
            let result = Result<[CommitPosition], KafkaError> { () throws(KafkaError) in
                partitions.isEmpty ? [] : try queries.committed(partitions, timeoutMilliseconds: 10_000)
            }
            mailbox.post(.committed(assignment: assignment, result))
        }
    }

    /// The helper has found out where to begin: now the assignment is answered.
    func answerAssignment(_ assignment: Int, _ result: Result<[CommitPosition], KafkaError>) {
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
    private func begin(_ positions: [CommitPosition]) {
        var topics: [ConsumedTopic] = []
        var assigned: [AssignedPartition] = []
        var known: [(TopicPartition, offset: Int64)] = []
        for position in positions {
            let name = position.partition.topic
            // Named like a retry topic by the pattern, but with a delay beyond all bounds: left alone.
            guard let role = configuration.role(of: name) else { continue }
            let isFresh = position.offset == Offset.none
            known.append((position.partition, isFresh ? Offset.beginning : position.offset))
            let topic = topics.firstIndex { $0.name == name } ?? topics.count
            if topic == topics.count { topics.append(ConsumedTopic(name: name, role: role)) }
            assigned.append(
                AssignedPartition(
                    topic: topic, number: position.partition.partition, startOffset: isFresh ? nil : position.offset,
                    metadata: isFresh ? "" : position.metadata))
        }
        groupMetadata = consumer.groupMetadata()
        read(known)
        guard end == nil else { return }
        engine.assigned(assigned, topics: topics, now: moment)
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

    func setPaused(_ isPaused: Bool, _ partition: Int32) {
        let position = engine.position(of: partition)
        let names = [TopicPartition(topic: position.topic, partition: position.number)]
        do {
            if isPaused { try consumer.pause(names) } else { try consumer.resume(names) }
        } catch {
            logger.warning("\(isPaused ? "pausing" : "resuming") \(names[0]) failed: \(error)")
        }
    }

    // MARK: Commits

    func commit(_ sequence: UInt64, now: Moment) {
        let positions = commitPositions()
        if let transactionCalls {
            transactionCalls.commit(sequence, positions, group: groupMetadata)
        } else if let error = consumer.commit(positions, token: sequence, reportTo: commits) {
            logger.warning("the commit was not sent: \(error)")
            engine.committed(sequence: sequence, .failedForNow, now: now)
        }
    }

    /// What the engine wants committed, in the client's words.
    func commitPositions() -> [CommitPosition] {
        engine.commitPositions.map { committed in
            let position = engine.position(of: committed.partition)
            return CommitPosition(
                partition: TopicPartition(topic: position.topic, partition: position.number),
                offset: committed.offset, metadata: committed.metadata)
        }
    }

    func hearCommits(now: Moment) {
        commits.commits { sequence, error, results in
            let failure = error ?? results.compactMap(\.error).first
            engine.committed(sequence: sequence, Self.outcome(ofCommit: failure), now: now)
            if let failure { logger.warning("the commit failed: \(failure)") }
        }
        carryOut(now: now)
    }

    private static func outcome(ofCommit error: KafkaError?) -> CommitOutcome {
        guard let error else { return .acknowledged }
        switch error.code {
        case KafkaError.Code.illegalGeneration, KafkaError.Code.unknownMemberID, KafkaError.Code.fencedInstanceID,
            KafkaError.Code.assignmentLost:
            return .refused
        default:
            return .failedForNow
        }
    }
}
