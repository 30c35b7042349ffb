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
/// Each look is that of a client of its own, so it holds nothing of an older one, and takes the memory of one client. What
/// can't be read shows itself in one of three ways:
///
/// - An error at the batch's first offset, whichever of its offsets is asked for: it can't be unpacked. That is how its end is
///   found, too.
/// - An error at the batch's first offset, once, and then nothing: its version is unknown.
/// - Nothing at all: the length of a record is damaged. librdkafka takes that for an answer that was cut short, and asks for more,
///   for ever. Brokers cut off no first batch (KIP-74), so each offset at which that happens can't be read.
package struct BatchFinder {
    /// So often it has to fail before it counts as unreadable.
    private static let proofs = 3
    /// So many answers with records, of which none comes out; the first may be about another offset.
    private static let answers = 5
    /// An answer has records when it is longer than this and its topic's name: no batch has less than 68 bytes.
    private static let emptyAnswer = 120
    /// For so long they have to come: the position that is told with them is a second old.
    private static let silence = Duration.seconds(2)
    /// The search for the end of damaged records is given up after this long: what lies behind is another batch.
    private static let longestSearch = Duration.seconds(60)

    private let partition: TopicPartition
    private let properties: ClientProperties
    private let patience: Duration

    /// What a client has met.
    private enum Look: Equatable {
        case readable
        /// It can't read the batch that begins at this offset.
        case failed(first: Int64, KafkaError)
        /// It gets no record, and no error.
        case silent
    }

    /// - Parameters:
    ///   - properties: those of the consumer that failed.
    ///   - patience: for one look.
    package init(_ partition: TopicPartition, properties: ClientProperties, patience: Duration = .seconds(10)) {
        self.partition = partition
        self.properties =
            properties + [
                ("enable.partition.eof", "true"), ("queued.min.messages", "1"), ("statistics.interval.ms", "200"),
                ("fetch.error.backoff.ms", "5"),
            ]
        self.patience = patience
    }

    /// Looks whether the partition can be read from this offset on; blocks, for a second or two if it can't, and longer for
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
        // The last offset that is known to lie in it, and one that does not.
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

    /// The offset behind those at which nothing comes; one after the other, because nothing tells where a batch ends, and the next
    /// but one may be damaged, too.
    private func endOfSilence(from offset: Int64) throws(KafkaError) -> Int64 {
        let deadline = ContinuousClock.now + Self.longestSearch
        let end = try self.end()
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        var next = offset + 1
        // A record that can be read comes with the first answer: the place needs no proof.
        while next < end, ContinuousClock.now < deadline,
            try look(at: next, with: consumer, silence: .zero) == .silent
        {
            next += 1
        }
        return next
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

    private func look(at offset: Int64) throws(KafkaError) -> Look {
        let consumer = try Consumer(properties: properties)
        defer { consumer.close() }
        return try look(at: offset, with: consumer, silence: Self.silence)
    }

    /// What a reader meets that begins at this offset.
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
            // Asked first: what they hold has come out by then.
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
                // It comes once, or for ever.
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
