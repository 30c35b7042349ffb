import HeraldTime

/// A batch that cannot be read.
public struct UnreadableBatch: Sendable, Equatable {
    /// Its partition.
    public var partition: TopicPartition
    /// Its offsets, starting at the requested one.
    public var offsets: Range<Int64>
    /// The reason that it cannot be read.
    public var failure: KafkaError

    /// A batch with these offsets.
    public init(partition: TopicPartition, offsets: Range<Int64>, failure: KafkaError) {
        self.partition = partition
        self.offsets = offsets
        self.failure = failure
    }
}

/// The verdict on a batch that a consumer failed to read.
public enum BatchReading: Sendable, Equatable {
    /// The batch can be read: the failure was temporary.
    case readable
    /// No client can read it.
    case unreadable(UnreadableBatch)
}

/// Finds out whether a batch that a consumer failed to read is readable, and where it ends.
///
/// Each look uses a fresh client, so it holds nothing of an older one, and takes the memory of one client. An
/// unreadable batch shows in one of three ways:
///
/// - An error at the batch's first offset, whichever of its offsets is requested: it cannot be unpacked. Its end is
///   found in the same way.
/// - An error at the batch's first offset, once, and then nothing: its version is unknown.
/// - Nothing at all: the length of a record is damaged. librdkafka takes the answer for a truncated one and asks for
///   more, for ever. Brokers never truncate the first batch (KIP-74), so every offset with this symptom is unreadable.
package struct BatchFinder {
    /// The number of failures before a batch counts as unreadable.
    private static let proofs = 3
    /// The number of answers that carry records but yield none; the first may concern another offset.
    private static let answers = 5
    /// An answer that is longer than this plus its topic's name carries records: every batch has at least 68 bytes.
    private static let emptyAnswer = 120
    /// The minimum time to wait for records: the position reported with them is a second old.
    private static let silence = Duration.seconds(2)
    /// The limit of the search for the end of damaged records; beyond it, the rest counts as another batch.
    private static let longestSearch = Duration.seconds(60)

    private let partition: TopicPartition
    private let properties: ClientProperties
    private let patience: Duration

    private enum Look: Equatable {
        case readable
        /// The batch that begins at this offset cannot be read.
        case failed(first: Int64, KafkaError)
        case silent
    }

    /// - Parameters:
    ///   - properties: The properties of the consumer that failed.
    ///   - patience: The limit of one look.
    package init(_ partition: TopicPartition, properties: ClientProperties, patience: Duration = .seconds(10)) {
        self.partition = partition
        self.properties =
            properties + [
                ("enable.partition.eof", "true"), ("queued.min.messages", "1"), ("statistics.interval.ms", "200"),
                ("fetch.error.backoff.ms", "5"),
            ]
        self.patience = patience
    }

    /// Checks whether the partition can be read from this offset on; blocks for a second or two if not, longer for
    /// damaged records.
    package func reading(at offset: Int64) throws(KafkaError) -> BatchReading {
        for _ in 1..<Self.proofs {
            if try look(at: offset) == .readable { return .readable }
        }
        switch try look(at: offset) {
        case .readable: return .readable
        case .failed(let first, let failure):
            var end = try lastFailing(from: max(offset, first), first) + 1
            if failure.code == KafkaError.Code.notImplemented { end = try endOfSilence(from: end - 1) }
            return unreadable(max(offset, first)..<end, failure)
        case .silent:
            let failure = KafkaError(code: KafkaError.Code.badMessage, message: "the length of a record is damaged")
            return unreadable(offset..<(try endOfSilence(from: offset)), failure)
        }
    }

    private func unreadable(_ offsets: Range<Int64>, _ failure: KafkaError) -> BatchReading {
        .unreadable(UnreadableBatch(partition: partition, offsets: offsets, failure: failure))
    }

    /// The last offset of the batch that begins at `first`.
    private func lastFailing(from offset: Int64, _ first: Int64) throws(KafkaError) -> Int64 {
        // The last offset known to lie in the batch, and one known not to.
        var last = offset
        var end = try self.end()
        let limit = end
        var step: Int64 = 1
        while end - last > 1 {
            let place = end == limit ? min(last + step, end - 1) : last + (end - last) / 2
            step *= 2
            if case .failed(first: first, _) = try look(at: place) { last = place } else { end = place }
        }
        return last
    }

    /// The offset after the last silent one; offsets are tried one by one, because no signal marks the end of a batch,
    /// and the one after a readable batch may be damaged too.
    private func endOfSilence(from offset: Int64) throws(KafkaError) -> Int64 {
        let deadline = ContinuousClock.now + Self.longestSearch
        let end = try self.end()
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        var next = offset + 1
        // A readable record comes with the first answer, so the position needs no proof.
        while next < end, ContinuousClock.now < deadline,
            try look(at: next, with: consumer, silence: .zero) == .silent
        {
            next += 1
        }
        return next
    }

    private func end() throws(KafkaError) -> Int64 {
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        let limit = Milliseconds(patience)
        // An embedded broker does not report the ends of partitions to `read_committed` readers.
        if let end = try consumer.queries.ends(of: [partition], timeout: limit)[partition] { return end }
        return try consumer.queries.watermarks(of: partition, timeout: limit).high
    }

    private func look(at offset: Int64) throws(KafkaError) -> Look {
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        return try look(at: offset, with: consumer, silence: Self.silence)
    }

    private func look(
        at offset: Int64, with consumer: Consumer, silence: Duration
    ) throws(KafkaError) -> Look {
        try consumer.assign([(partition, offset: offset)])
        let fetches = consumer.handle.callbacks.fetches
        fetches.countAnswers(from: Self.emptyAnswer + partition.topic.utf8.count)
        let begin = ContinuousClock.now
        var trouble = KafkaError(code: KafkaError.Code.timedOut)
        var failed: Look?
        var hasMoved = false
        while ContinuousClock.now - begin < patience {
            if let json = consumer.takeStatistics(), let progress = FetchProgress(json: json, of: partition) {
                hasMoved = silence > .zero && progress.position >= 0 && progress.position != offset
            }
            // Read before the queue, so that the records of these answers have reached the queue by then.
            let isAnswered = fetches.answerCount >= Self.answers
            guard let message = consumer.queue.next(wait: .milliseconds(5)) else {
                guard isAnswered, ContinuousClock.now - begin >= silence else { continue }
                if let failed { return failed }
                if !hasMoved { return .silent }
                continue
            }
            defer { message.release() }
            guard let error = message.error, error.code != KafkaError.Code.partitionEOF else {
                // Damaged bytes may look like any offset.
                return failed ?? (message.offset < offset ? .silent : .readable)
            }
            if error.kind == .unreadable, message.partition >= 0 {
                let isAgain = failed != nil
                failed = .failed(first: message.offset, error)
                // The error comes once, or again and again.
                if let failed, isAgain || error.code != KafkaError.Code.notImplemented { return failed }
            } else if error.isOfTopic {
                throw error
            } else {
                trouble = error
            }
        }
        throw trouble
    }
}
