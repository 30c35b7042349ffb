import HeraldTime

/// A batch that nobody can read.
public struct UnreadableBatch: Sendable, Equatable {
    /// Where it lies.
    public var partition: TopicPartition
    /// Its offsets, from the one on that was asked for.
    public var offsets: Range<Int64>
    /// Why it can't be read.
    public var failure: KafkaError

    /// A batch with these offsets.
    public init(partition: TopicPartition, offsets: Range<Int64>, failure: KafkaError) {
        self.partition = partition
        self.offsets = offsets
        self.failure = failure
    }
}

/// Whether a batch can be read that a consumer could not read.
public enum BatchReading: Sendable, Equatable {
    /// It can: what failed was of the moment.
    case readable
    /// Nobody can.
    case unreadable(UnreadableBatch)
}

/// Finds out whether a batch can be read that a consumer could not read, and where it ends.
///
/// Each look is that of a client of its own, so it holds nothing of an older one, and takes the memory of one client. A batch
/// comes as a whole, whichever of its offsets is asked for: that is how its end is found.
package struct BatchFinder {
    /// So often it has to fail before it counts as unreadable.
    private static let proofs = 3

    private let partition: TopicPartition
    private let properties: ClientProperties
    private let patience: Duration

    /// - Parameters:
    ///   - properties: those of the consumer that failed.
    ///   - patience: for one look.
    package init(_ partition: TopicPartition, properties: ClientProperties, patience: Duration = .seconds(10)) {
        self.partition = partition
        self.properties = properties + [("enable.partition.eof", "true"), ("queued.min.messages", "1")]
        self.patience = patience
    }

    /// Looks whether the partition can be read from this offset on; blocks, for a second or two if it can't.
    package func reading(at offset: Int64) throws(KafkaError) -> BatchReading {
        for _ in 1..<Self.proofs {
            if try look(at: offset) == nil { return .readable }
        }
        guard let (first, failure) = try look(at: offset) else { return .readable }
        // The last offset that is known to lie in it, and one that does not.
        var last = max(offset, first)
        var end = try self.end()
        let limit = end
        var step: Int64 = 1
        while end - last > 1 {
            let place = end == limit ? min(last + step, end - 1) : last + (end - last) / 2
            step *= 2
            if try look(at: place)?.first == first { last = place } else { end = place }
        }
        return .unreadable(
            UnreadableBatch(partition: partition, offsets: max(offset, first)..<last + 1, failure: failure))
    }

    /// Where the partition ends for this reader.
    private func end() throws(KafkaError) -> Int64 {
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        let limit = Milliseconds(patience)
        // An embedded broker does not say where its partitions end for those who read what is committed.
        if let end = try consumer.queries.ends(of: [partition], timeout: limit)[partition] { return end }
        return try consumer.queries.watermarks(of: partition, timeout: limit).high
    }

    /// Where the batch begins that a reader can't read which begins at this offset, and why; `nil` when it gets a record, or to
    /// the end.
    private func look(at offset: Int64) throws(KafkaError) -> (first: Int64, failure: KafkaError)? {
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        try consumer.assign([(partition, offset: offset)])
        let deadline = ContinuousClock.now + patience
        var trouble = KafkaError(code: KafkaError.Code.timedOut)
        while ContinuousClock.now < deadline {
            guard let message = consumer.queue.next(wait: .milliseconds(100)) else { continue }
            defer { message.release() }
            guard let error = message.error, error.code != KafkaError.Code.partitionEOF else { return nil }
            if error.kind == .unreadable, message.partition >= 0 { return (message.offset, error) }
            if error.isOfTopic { throw error }
            trouble = error
        }
        throw trouble
    }
}
