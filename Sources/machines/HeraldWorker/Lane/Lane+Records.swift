import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// The number of records taken before the loop looks at its sockets again.
    private static var takesPerTurn: Int { 64 }

    /// Takes records while the engine wants any, for one turn of the loop.
    func pollRecords(now: Moment) {
        mayHaveMore = false
        if let (record, source) = refused {
            refused = nil
            offer(record, source: source, now: now)
            carryOut(now: now)
            guard refused == nil else { return }
        }
        for _ in 0..<Self.takesPerTurn {
            guard let source = engine.nextSource() else { return }
            guard let record = io.next(from: source) else {
                engine.exhausted(source: source)
                continue
            }
            offer(record, source: source, now: now)
            carryOut(now: now)
            if refused != nil { return }
            // Turns with large records are long.
            if io.fetchedBytes - lookedBytes >= LaneIntervals.lookBytes { lookAhead(now: now) }
        }
        mayHaveMore = true
    }

    func offer(_ record: IO.Record, source: Int, now: Moment) {
        if record.isError {
            receiveError(record)
            return
        }
        headers.removeAll()
        record.forEachHeader { name, value in headers.append(name: name, value: value) }
        let timestamp = record.timestampMilliseconds
        let intake = record.withKey { key in
            record.withValue { value in
                engine.record(
                    source: source, partition: record.partition, offset: record.offset,
                    timestamp: timestamp < 0 ? nil : WallTime(milliseconds: timestamp), key: key, value: value,
                    headers: headers, now: now)
            }
        }
        switch intake {
        case .accepted(let slot):
            let retained = record.retained
            records[Int(slot.index)] = retained
            if let tracer { trace(tracer, taken: slot, retained, now: now) }
        case .done: record.release()
        case .noRoom: refused = (record, source)
        }
    }

    /// Serves the whole consumer: rebalances, errors, and records that came before their partition was forwarded.
    func serveConsumer() {
        pollUnforwarded()
        while let rebalance = io.takeRebalance() {
            handle(rebalance, now: io.now)
            carryOut(now: io.now)
        }
        if let error = io.consumerError() {
            end = .failed("the consumer failed fatally: \(error). Restart the worker.")
        }
    }

    /// Takes the records that came before their partition was forwarded; before anything from its queue, because later
    /// ones would count as settled.
    func pollUnforwarded() {
        while let record = io.nextUnforwarded() {
            if record.isError {
                receiveError(record)
            } else if refused == nil, let source = source(of: record) {
                offer(record, source: source, now: io.now)
            } else {
                // Not assigned any more, or no room: the partition goes back to this record.
                let partition = TopicPartition(topic: record.topicName(), partition: record.partition)
                try? io.seek(partition, to: record.offset)
                record.release()
            }
            carryOut(now: io.now)
        }
    }

    /// Reports to the engine the bytes in the queues.
    func lookAhead(now: Moment) {
        nextLook = now.monotonic.advanced(by: intervals.look)
        lookedBytes = io.fetchedBytes
        engine.readAhead(io.queueCounts, fetched: lookedBytes, now: now)
        carryOut(now: now)
    }

    private func source(of record: IO.Record) -> Int? {
        guard let index = engine.index(of: record.partition, in: record.topicName()) else { return nil }
        return engine.sourceList.firstIndex { $0.partitions.contains(index) }
    }

    private func receiveError(_ record: IO.Record) {
        if record.error?.kind == .unreadable { return askForBatch(record) }
        defer { record.release() }
        guard let error = record.error else { return }
        let partition = TopicPartition(topic: record.topicName(), partition: record.partition)
        switch error.code {
        case KafkaError.Code.topicAuthorizationFailed where engine.counters.accepted == 0:
            end = .failed(
                "Herald may not read \(partition.topic): run "
                    + "\(KafkaPermission(.read, .describe, on: .topic(partition.topic)).command).")
        case KafkaError.Code.groupAuthorizationFailed where engine.counters.accepted == 0:
            end = .failed(
                "Herald may not join its group: run \(KafkaPermission(.read, on: .group("GROUP")).command) "
                    + "(GROUP is kafka.group).")
        case KafkaError.Code.partitionEOF:
            endReached(of: partition, at: record.offset)
        case KafkaError.Code.maxPollExceeded:
            break
        case _ where error.kind == .offsetGone:
            askForRange(of: partition)
        case _ where error.kind == .unknownTopic:
            noteMissing(partition.topic)
            engine.topicIsMissing(partition.topic, now: io.now)
        default:
            if let obstacle = GroupObstacle(error) {
                groupObstacle = obstacle
                return
            }
            logger.warning(
                "\(error)",
                ["topic": .string(partition.topic), "partition": .int(Int(partition.partition))])
        }
    }

    private func endReached(of partition: TopicPartition, at offset: Int64) {
        guard let index = engine.index(of: partition.partition, in: partition.topic) else { return }
        // A waiting record comes before the end, and would count as settled.
        if let first = refused?.record, first.partition == partition.partition, first.topicName() == partition.topic {
            return
        }
        engine.endReached(of: index, at: offset)
    }

    private func askForRange(of partition: TopicPartition) {
        guard let index = engine.index(of: partition.partition, in: partition.topic),
            let wanted = engine.nextOffset(of: index), rangeQuestions[partition] == nil
        else { return }
        let question = RangeQuestion(reading: reading, wanted: wanted, newest: engine.newestTaken(of: index))
        rangeQuestions[partition] = question
        // A log that is read again meanwhile may have grown past that offset, and would be taken for the former one.
        engine.offsetIsMissing(index)
        io.findRange(of: partition, question, after: .zero)
    }

    /// Finds out what is lost of partitions that are not fetched until their first record is due.
    func askForDeleted(_ partitions: [TopicPartition]) {
        overtaken = []
        for partition in partitions where inQuestion[partition] == nil && lostOffsets[partition] == nil {
            guard engine.isConsuming, let index = engine.index(of: partition.partition, in: partition.topic) else {
                continue
            }
            // What is in a queue, or was taken out of it, is not lost.
            if engine.isFetched(index)
                || refused?.record.partition == partition.partition && refused?.record.topicName() == partition.topic
            {
                overtaken.insert(partition)
            } else {
                askForRange(of: partition)
            }
        }
    }

    /// Says before a stop that it loses what only the client's memory has.
    func warnOfOvertaken() {
        var places: [TopicPartition] = []
        for place in overtaken.sorted(by: { ($0.topic, $0.partition) < ($1.topic, $1.partition) }) {
            guard let index = engine.index(of: place.partition, in: place.topic), engine.isFetched(index) else {
                continue
            }
            places.append(place)
        }
        overtaken = []
        guard !places.isEmpty else { return }
        logger.error(
            "records of \(places.names) were deleted after this worker had fetched them, and are not due yet: it gives the "
                + "partitions back, so what it has not taken is lost; herald account names whose notifications are missing",
            ["partitions": .string(places.names), "count": .int(places.count)])
    }

    /// Judges a missing next offset: records were lost to retention, the log was cut off, or the topic was recreated.
    func judgeRange(
        of partition: TopicPartition, _ question: RangeQuestion, _ result: Result<OffsetRange, KafkaError>
    ) {
        // While partitions are revoked, an assignment would be the wrong answer to the group: it would answer a
        // revocation that is still in the queue.
        serveConsumer()
        guard rangeQuestions[partition] == question, engine.isConsuming,
            let index = engine.index(of: partition.partition, in: partition.topic),
            let wanted = engine.nextOffset(of: index)
        else { return }
        switch result {
        case .failure(let error):
            logger.warning(
                "offset \(wanted) of \(partition) is out of range, and its range is not known yet: \(error)",
                ["topic": .string(partition.topic), "partition": .int(Int(partition.partition))])
            io.findRange(of: partition, question, after: Self.lostPause)
        case .success(let range):
            rangeQuestions[partition] = nil
            let held = lostRecords.removeValue(forKey: partition)
            if inQuestion[partition] == nil { engine.endQuestion(of: index) }
            switch engine.outOfRange(
                index, low: range.low, high: range.high, younger: range.younger, committed: range.committed,
                reach: range.reach, answering: question, reading: reading)
            {
            case .lost(let count): hold(partition, question, lost: count, to: range.low, since: held?.since)
            case .skipped(let offset):
                logger.warning(
                    "records were deleted before they were read, and are skipped: continuing at the first that is left",
                    place(partition, offset))
                engine.writeDeletedAnew(of: index, now: io.now)
                readAgain()
            case .recreated(let wanted):
                logger.warning(
                    "the topic was recreated: beginning at its first record",
                    [
                        "topic": .string(partition.topic), "partition": .int(Int(partition.partition)),
                        "committed": .int(Int(wanted)),
                    ])
                readAgain()
            // The engine's notice reports it.
            case .cut, .doubtful: readAgain()
            case .there:
                // Unless it will be once the batch's readability is known.
                if inQuestion[partition] == nil { readAgain() }
            case .outdated:
                // What was read since was not taken.
                if question.reading != reading { readAgain() }
            }
        }
    }

    /// Takes nothing of a partition of which records were deleted unread, until the group stands behind them.
    private func hold(
        _ partition: TopicPartition, _ question: RangeQuestion, lost count: Int64, to first: Int64, since: WallTime?
    ) {
        guard let index = engine.index(of: partition.partition, in: partition.topic) else { return }
        engine.offsetIsMissing(index)
        rangeQuestions[partition] = question
        let lost = LostRecords.Place(partition: partition, count: count, since: since ?? io.now.wall)
        lostRecords[partition] = lost
        if since == nil {
            let words = LostRecords([lost])
            logger.error("\(words.words); \(words.remedy)", place(partition, first))
        }
        io.findRange(of: partition, question, after: Self.lostPause)
    }

    /// Reads every partition from the engine's present position.
    ///
    /// librdkafka stops reading a partition whose offset is out of range, and no seek moves it (`_STATE`); an
    /// assignment does. The engine keeps its events; fetched records that were not taken come again.
    func readAgain() {
        refused?.record.release()
        refused = nil
        let positions = engine.sourceList.flatMap(\.partitions).map { index in
            (topicPartition(index), offset: engine.readOffset(of: index) ?? Offset.beginning)
        }.filter { lostOffsets[$0.0] == nil }
        read(positions)
        guard end == nil else { return }
        forward()
    }

    func read(_ positions: [(TopicPartition, offset: Int64)]) {
        reading += 1
        do {
            try io.assign(positions)
        } catch {
            end = .failed("the partitions could not be taken: \(error). Start the worker again.")
        }
    }

    /// Gives each of the engine's sources its queue's records.
    func forward() {
        for (queue, source) in engine.sourceList.enumerated() {
            for partition in source.partitions.map(topicPartition) where lostOffsets[partition] == nil {
                io.forward(partition, to: queue)
            }
        }
        pollUnforwarded()
    }

    /// One of the engine's partitions in the client's terms.
    func topicPartition(_ index: Int32) -> TopicPartition {
        let position = engine.position(of: index)
        return TopicPartition(topic: position.topic, partition: position.number)
    }
}
