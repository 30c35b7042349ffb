package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Reads the results topic, which holds all results, for those that the caller wants.
///
/// One thread.
package final class ResultsReader {
    private static let longestWait = Milliseconds.seconds(1)

    /// For wake-ups, and to set an end.
    package let reader: TopicReader
    private let mention: BytePattern?

    /// Begins to read; blocks for the brokers' answers.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, `group.id` and `isolation.level` among them; nothing is committed, no group joined.
    ///   - partitions: the topic's partitions.
    ///   - start: where a partition begins; unless told otherwise at its end, so make it before anything is published.
    ///   - mention: what the bytes of a result have to hold; others, which are most, are not decoded.
    package init(
        properties: ClientProperties, topic: String, partitions: [Int32], mentioning mention: String? = nil,
        from start: (Int32) -> TopicReader.Start = { _ in .end }
    ) throws {
        self.mention = mention.map(BytePattern.init)
        reader = try TopicReader(properties: properties, topic: topic, partitions: partitions, from: start)
    }

    package var positions: [Int32: Int64] {
        Dictionary(uniqueKeysWithValues: reader.positions.map { ($0.key.partition, $0.value) })
    }

    /// Reads to the present end.
    ///
    /// - Parameters:
    ///   - onProgress: how many of how many records were passed; `false` ends the reading.
    ///   - body: called with each result and the message that it came in.
    /// - Returns: whether the end was reached.
    @discardableResult
    package func catchUp(
        onProgress: (Int64, Int64) -> Bool = { _, _ in true }, _ body: (NotificationResult, Message) throws -> Void
    ) throws -> Bool {
        try reader.catchUp(onProgress: onProgress) { try decode($0, body) }
    }

    /// Reads some records, until none has come for so long; whether the end is reached.
    package func turn(wait: Milliseconds, _ body: (NotificationResult, Message) -> Void) throws -> Bool {
        try reader.turn(wait: wait) { decode($0, body) }
    }

    /// Takes what has come since, waiting up to this long for the first record; how many records there were, of any
    /// event.
    @discardableResult
    package func poll(wait: Milliseconds, _ body: (NotificationResult, Message) -> Void) throws -> Int {
        try reader.poll(wait: wait) { decode($0, body) }
    }

    /// Hands over results until `tracker` is complete, the time is over or the caller stops it, and not for what waits longer
    /// than that for users' quiet hours.
    ///
    /// - Parameter retries: what says that it waits; `nil` where nothing does.
    package func follow(
        _ tracker: inout PublicationTracker, for time: Duration, _ retries: RetriesReader? = nil,
        isStopping: () -> Bool, _ onOutcome: (PublicationTracker.Entry) -> Void
    ) throws {
        let end = ContinuousClock.now + time
        while !tracker.isComplete, !isStopping() {
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { return }
            try retries?.poll { tracker.receive($0) }
            if tracker.isAsleep(beyond: SystemClock.wall().advanced(by: .milliseconds(Int64(left)))) { return }
            let wait = min(.milliseconds(Int64(left.rounded(.up))), Self.longestWait)
            try poll(wait: wait) { result, _ in
                for entry in tracker.receive(result) { onOutcome(entry) }
            }
        }
    }

    package func close() { reader.close() }

    private func decode(
        _ message: Message, _ body: (NotificationResult, Message) throws -> Void
    ) rethrows {
        let result = message.withValue { value -> NotificationResult? in
            guard let value, mention?.occurs(in: value) ?? true else { return nil }
            // What another program has written there is no result of these events.
            return try? NotificationResult(decoding: value)
        }
        if let result { try body(result, message) }
    }
}
