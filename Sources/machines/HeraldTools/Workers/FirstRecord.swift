internal import HeraldBytes
internal import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// What a group finds first where it stands in a partition.
package enum FirstRecord: Sendable, Equatable {
    /// Nothing but the marks of transactions, which a worker passes by itself.
    case none
    /// A record whose event was published at this moment; `nil` when its timestamp can't be that.
    case published(WallTime?)
}

extension Consumer {
    /// What comes first from these offsets on, for a `read_committed` consumer that is told where partitions end; a
    /// partition is left out when nothing came in time, or it may not be read.
    ///
    /// Blocks up to this long. What the consumer was assigned before it is no more.
    ///
    /// - Parameter countsFromOrigin: whether a retry's moment is when its event was published, or when it was written itself.
    package func firstRecords(
        from positions: [(TopicPartition, offset: Int64)], within limit: Duration, countsFromOrigin: Bool = true
    ) throws(KafkaError) -> [TopicPartition: FirstRecord] {
        try assign(positions)
        let end = ContinuousClock.now + limit
        var found: [TopicPartition: FirstRecord] = [:]
        var refused: Set<TopicPartition> = []
        while found.count + refused.count < positions.count, ContinuousClock.now < end {
            guard let message = queue.next(wait: .milliseconds(100)) else { continue }
            defer { message.release() }
            let partition = TopicPartition(topic: message.topicName(), partition: message.partition)
            guard found[partition] == nil else { continue }
            if let error = message.error {
                if error.code == KafkaError.Code.partitionEOF { found[partition] = FirstRecord.none }
                if error.isOfTopic { refused.insert(partition) }
            } else {
                found[partition] = .published(message.moment(ofOrigin: countsFromOrigin))
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
