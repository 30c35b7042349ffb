import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Has another client read a batch that the consumer can't read.
    func askForBatch(_ record: IO.Record) {
        let partition = TopicPartition(topic: record.topicName(), partition: record.partition)
        guard let index = engine.index(of: partition.partition, in: partition.topic),
            let wanted = engine.batchFailed(index, at: record.offset)
        else { return record.release() }
        logger.warning(
            "a batch can't be read; looking whether that lasts: \(record.error?.words ?? "")",
            place(partition, record.offset))
        let question = RangeQuestion(reading: reading, wanted: wanted, failedAt: io.now.wall)
        inQuestion.updateValue((question, record), forKey: partition)?.record?.release()
        io.readBatch(of: partition, question)
    }

    /// Has another client read partitions that stand still although they have more records.
    ///
    /// A client reports nothing for records with damaged lengths, and stands still at them.
    func askForStandstill(of partitions: [TopicPartition]) {
        for partition in partitions where inQuestion[partition] == nil && lostOffsets[partition] == nil {
            guard engine.isConsuming, let index = engine.index(of: partition.partition, in: partition.topic),
                let offset = engine.readOffset(of: index), let wanted = engine.batchFailed(index, at: offset)
            else { continue }
            logger.warning(
                "nothing comes of a partition that has more; looking whether its next batch can be read",
                place(partition, wanted))
            let question = RangeQuestion(reading: reading, wanted: wanted, failedAt: io.now.wall)
            inQuestion[partition] = (question, nil)
            io.readBatch(of: partition, question)
        }
    }

    /// Passes over an unreadable batch; reads again a batch that others can read.
    func judgeBatch(
        of partition: TopicPartition, _ question: RangeQuestion, _ result: Result<BatchReading, KafkaError>
    ) {
        // As before the range of a partition is judged.
        serveConsumer()
        // Unless the question came from an assignment that has ended.
        guard let (asked, record) = inQuestion[partition], asked == question else { return }
        inQuestion[partition] = nil
        // While its range is asked for its log may be another one: the batch is found again, if it is there.
        guard rangeQuestions[partition] == nil, engine.isConsuming,
            let index = engine.index(of: partition.partition, in: partition.topic)
        else {
            record?.release()
            return
        }
        switch result {
        case .success(.unreadable(let batch)):
            let reason = batch.failure.words
            let intake = engine.batchIsUnreadable(
                index, batch.offsets, reason: reason, answering: question, now: io.now)
            if case .accepted(let slot) = intake {
                records[Int(slot.index)] =
                    record?.retained ?? io.emptyRecord(of: partition, at: batch.offsets.lowerBound)
                logger.error(
                    "a batch can't be read and is passed over, with one dead letter, up to offset "
                        + "\(batch.offsets.upperBound - 1): \(reason)",
                    place(partition, batch.offsets.lowerBound))
            } else {
                record?.release()
            }
        case .failure(let error):
            logger.warning("whether a batch can be read is not known yet: \(error)", place(partition, question.wanted))
            fallthrough
        case .success:
            record?.release()
            engine.endQuestion(of: index)
        }
        // A damaged batch may have taken the client to any offset, where it stands still.
        readAgain()
    }

    func place(_ partition: TopicPartition, _ offset: Int64) -> LogFields {
        [
            "topic": .string(partition.topic), "partition": .int(Int(partition.partition)), "offset": .int(Int(offset)),
        ]
    }
}
