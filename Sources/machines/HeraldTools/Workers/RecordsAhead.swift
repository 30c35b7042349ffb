internal import HeraldBytes
internal import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// What a group finds from where it stands in a partition on.
package struct RecordsAhead: Sendable, Equatable {
    package enum First: Sendable, Equatable {
        /// Nothing but the marks of transactions, which a worker passes by itself.
        case none
        /// A record whose event was published at this moment; `nil` when its timestamp can't be that.
        case published(WallTime?)
    }

    package var first: First
    /// How many there are; `nil` when there are more than were counted.
    ///
    /// Offsets do not tell, for marks have some, too.
    package var count: Int64?
}

extension Consumer {
    /// What comes from these offsets on, for a `read_committed` consumer that is told where partitions end; a partition
    /// is left out when nothing came in time, or it may not be read.
    ///
    /// Blocks up to this long. What the consumer was assigned before it is no more.
    ///
    /// - Parameters:
    ///   - limit: how many records of a partition are counted.
    ///   - countsFromOrigin: whether a retry's moment is when its event was published, or when it was written itself.
    package func recordsAhead(
        of positions: [(TopicPartition, offset: Int64)], within time: Duration, counting limit: Int64 = 0,
        countsFromOrigin: Bool = true
    ) throws(KafkaError) -> [TopicPartition: RecordsAhead] {
        try assign(positions)
        let end = ContinuousClock.now + time
        var found: [TopicPartition: RecordsAhead] = [:]
        var counts: [TopicPartition: Int64] = [:]
        var done: Set<TopicPartition> = []
        while done.count < positions.count, ContinuousClock.now < end {
            guard let message = queue.next(wait: .milliseconds(100)) else { continue }
            defer { message.release() }
            let partition = TopicPartition(topic: message.topicName(), partition: message.partition)
            guard !done.contains(partition) else { continue }
            if let error = message.error {
                if error.code == KafkaError.Code.partitionEOF {
                    found[partition, default: RecordsAhead(first: .none)].count = counts[partition] ?? 0
                    done.insert(partition)
                }
                if error.isOfTopic { done.insert(partition) }
            } else {
                let count = counts[partition, default: 0] + 1
                counts[partition] = count
                if count == 1 {
                    found[partition] = RecordsAhead(first: .published(message.moment(ofOrigin: countsFromOrigin)))
                }
                if count > limit { done.insert(partition) }
            }
        }
        try unassign()
        return found
    }
}

extension Message {
    /// When it was written, or its event was published: a retry says it in a header.
    fileprivate func moment(ofOrigin: Bool) -> WallTime? {
        var headers = HeaderList()
        if ofOrigin { forEachHeader { headers.append(name: $0, value: $1) } }
        let origin = headers.lastValue(named: HeaderName.originTimestamp.literal)?.decimal
        return WallTime(milliseconds: origin ?? timestampMilliseconds).credible(now: SystemClock.wall())
    }
}
