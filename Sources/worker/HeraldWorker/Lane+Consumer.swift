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
            // Some turns are long, when records are large.
            if consumer.fetchedBytes - lookedBytes >= Self.lookBytes { lookAhead(now: now) }
        }
        mayHaveMore = true
    }

    func offer(_ message: Message, source: Int, now: Moment) {
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
                keyCount: message.keyCount, now: now)
        }
        switch intake {
        case .kept(let slot): held[Int(slot.index)] = HeldRecord(message)
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
        for notice in notices { troubles.kafka(notice, now: moment.monotonic) }
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

    /// Tells the engine how much lies in the queues.
    func lookAhead(now: Moment) {
        nextLook = now.monotonic.advanced(byMilliseconds: Self.lookInterval)
        lookedBytes = consumer.fetchedBytes
        engine.readAhead(queues.map(\.count), fetched: lookedBytes, now: now)
        carryOut(now: now)
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
            if let first = aside?.message, first.partition == partition.partition, first.topicName() == partition.topic
            {
                // It comes before the end, and would count as dealt with.
                return
            }
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
        // While partitions go, an assignment would be the wrong answer to the group: a revocation that nobody has heard of
        // yet would be taken for answered.
        hearConsumer()
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

    func read(_ positions: [(TopicPartition, offset: Int64)]) {
        reading += 1
        do {
            try consumer.assign(positions)
        } catch {
            end = .failed("the partitions could not be taken: \(error). Start the worker again.")
        }
    }

    /// Gives each of the engine's sources its queue's records.
    func forward() {
        for (source, queue) in zip(engine.sourceList, queues) {
            for partition in source.partitions {
                let position = engine.position(of: partition)
                consumer.forward(TopicPartition(topic: position.topic, partition: position.number), to: queue)
            }
        }
        takeUnforwarded()
    }
}
