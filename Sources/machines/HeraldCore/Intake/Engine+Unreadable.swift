import HeraldEvents
public import HeraldTime

/// Unreadable batches: compression bombs, and data damaged by a disk.
///
/// The client reports an unreadable batch at one offset forever. A reader of its own finds out whether that lasts, and
/// where the batch ends. Meanwhile the partition is in question: nothing of it is taken, because later offsets would
/// count the batch's records as settled.
extension Engine {
    /// Notes that the client can't read the batch at this offset of a partition.
    ///
    /// - Returns: The offset from which another client has to try, and report by ``endQuestion(of:)`` or
    ///   ``batchIsUnreadable(_:_:reason:answering:now:)``; `nil` without a question.
    public mutating func batchFailed(_ partition: Int32, at offset: Int64) -> Int64? {
        guard case .assigned = membership else { return nil }
        return partitions.question(partition, at: offset)
    }

    /// Notes that the broker does not have a partition's next offset, and its range is asked for; ``endQuestion(of:)``
    /// comes before the answer.
    public mutating func offsetIsMissing(_ partition: Int32) { _ = partitions.question(partition) }

    /// Ends the question: another client could read the batch, or could not find out; or the partition's range is known.
    ///
    /// The lane reads the partition again from its place.
    public mutating func endQuestion(of partition: Int32) { _ = partitions.endQuestion(partition) }

    /// Passes over unreadable offsets, with one dead letter for all of them; the lane reads the partition again, from
    /// the offset after them.
    ///
    /// The first of them stands for all, and is done when its dead letter is durable; the others are done with it.
    ///
    /// - Parameters:
    ///   - reason: The reason, for people.
    ///   - question: The state when that was asked.
    /// - Returns: Whether the lane keeps the message for a slot.
    public mutating func batchIsUnreadable(
        _ partition: Int32, _ offsets: Range<Int64>, reason: String, answering question: RangeQuestion, now: Moment
    ) -> Intake {
        guard case .assigned = membership, partitions.endQuestion(partition) else { return .done }
        // Its topic was recreated since, or there is no room: the client finds it again, if it is there.
        guard question.reading >= partitions[partition].firstReading, events.room > 0,
            let source = sources.index(of: partition)
        else { return .done }
        switch partitions.pass(offsets, of: partition, failedAt: question.failedAt) {
        case .noRoom:
            actions.append(.pause(partition: partition))
            return .done
        case .doneBefore:
            committer.noteNews()
            return .done
        case .new(let offset):
            committer.noteNews()
            counters.accepted += 1
            counters.unreadable += Int(offsets.upperBound - offset)
            let (callClass, requestTopic, isRetry) = sources.kind(of: source)
            let slot = events.add(
                EventTable.Arrival(
                    source: source, callClass: callClass, requestTopic: requestTopic, partition: partition,
                    offset: offset, timestamp: nil, isRetry: isRetry, bytes: 0),
                unreadable: .unreadable(offset..<offsets.upperBound, reason),
                topic: partitions.topicName(of: partition), number: partitions[partition].number,
                decoder: configuration.decoder, now: now)
            let id = events.id(of: slot)
            settleUndecodable(slot, reason: .unreadable, now: now)
            run(now: now)
            return .accepted(id)
        }
    }
}
