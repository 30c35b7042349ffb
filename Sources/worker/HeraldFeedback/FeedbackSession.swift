internal import HeraldCore
internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldHub
internal import HeraldKafka
internal import HeraldTelemetry
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// One stretch of following: from what is committed to the first trouble, to other credentials, or to the stop.
///
/// One thread, which carries out what a ``FeedbackEngine`` decides. It blocks at the beginning; then only its own loop.
final class FeedbackSession {
    /// Why a session ends that nothing went wrong in.
    enum Ending: Error {
        /// Another one begins at once.
        case again
        /// Nobody can go on; why, for people.
        case final(String)
    }

    private static let wakeupOwner: UInt8 = 1
    private static let callsOwner: UInt8 = 2
    private static let questionMilliseconds = 5_000
    /// For a topic that was just made.
    private static let topicPatience = Duration.seconds(5)
    /// The loop looks for records so often, because feedback is nothing that anybody waits for by the millisecond.
    private static let turnMilliseconds: Int64 = 100
    private static let recordsPerTurn = 2_000
    private static let lookMilliseconds: Int64 = 5_000
    private static let partitionsMilliseconds: Int64 = 60_000
    private static let reportMilliseconds: Int64 = 60_000

    private struct Pending {
        var partition: Int32
        var offset: Int64
        var result: NotificationResult?
        var byteCount: Int
    }

    private let configuration: FeedbackConfiguration
    private let logger: Logger
    private let wakeup: Wakeup
    private let isStopping: () -> Bool
    private let connectionString: HubConnectionString
    private let loop: EventLoop
    private let calls: MessageCalls
    private let writer: FeedbackWriter
    private let reader: TopicReader
    private let partitions: Set<TopicPartition>
    private var devices: DeviceWatch?
    private var engine: FeedbackEngine
    private var pending: Pending?
    /// Which of both kinds of work is being written.
    private var writing: (isOfDevices: Bool, since: ContinuousClock.Instant)?
    private var nextLook: MonotonicTime
    private var nextPartitions: MonotonicTime
    private var nextReport: MonotonicTime
    private var nextWarning: MonotonicTime
    private var reported = FeedbackEngine.Counts()

    /// Claims the group's name, and finds out where its last transaction left off.
    ///
    /// Blocks.
    init(
        _ configuration: FeedbackConfiguration, logger: Logger, wakeup: Wakeup, isStopping: @escaping () -> Bool
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.wakeup = wakeup
        self.isStopping = isStopping
        connectionString = try configuration.connectionString()
        let now = SystemClock.monotonic()
        (nextLook, nextPartitions, nextReport, nextWarning) = (now, now, now, now)
        loop = try EventLoop()
        try loop.add(wakeup.descriptor, token: EventToken(owner: Self.wakeupOwner), interest: .readableEdges)
        calls = MessageCalls(
            loop: loop, owner: Self.callsOwner, connectionString, hub: configuration.hub,
            connections: configuration.connections, timeoutMilliseconds: configuration.timeoutMilliseconds)
        engine = FeedbackEngine(configuration.engine, now: now)
        var isWaiting = false
        let writer = try FeedbackWriter(properties: configuration.writerProperties, wakeup: wakeup) { error in
            if !isWaiting { logger.warning("waiting for the brokers: \(error)") }
            isWaiting = true
            return !isStopping()
        }
        self.writer = writer
        do throws(KafkaError) {
            reader = try TopicReader(properties: configuration.readerProperties)
        } catch {
            writer.close()
            throw error
        }
        do throws(KafkaError) {
            partitions = try Self.begin(reader, &engine, configuration, logger)
        } catch {
            reader.close()
            writer.close()
            throw error
        }
        nextPartitions = now.advanced(byMilliseconds: Self.partitionsMilliseconds)
        nextReport = now.advanced(byMilliseconds: Self.reportMilliseconds)
    }

    /// Gives each partition to the engine from where the group's offsets say, after the name was claimed: nobody moves them
    /// any more.
    private static func begin(
        _ reader: TopicReader, _ engine: inout FeedbackEngine, _ configuration: FeedbackConfiguration, _ logger: Logger
    ) throws(KafkaError) -> Set<TopicPartition> {
        let queries = reader.consumer.queries
        func find(_ topic: String) throws(KafkaError) -> [TopicPartition] {
            try KafkaError.outwaiting(within: topicPatience) { () throws(KafkaError) in
                try queries.partitions(of: topic, timeoutMilliseconds: questionMilliseconds)
            }
        }
        _ = try find(configuration.topics.feedback)
        let partitions = try find(configuration.topics.results)
        let committed = try queries.committed(partitions, timeoutMilliseconds: questionMilliseconds)
        let cluster = queries.clusterID ?? ""
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for position in committed {
            starts[position.partition] = position.offset >= 0 ? .offset(position.offset) : .beginning
        }
        try reader.begin(starts)
        let positions = reader.positions
        for position in committed {
            let identity = PartitionIdentity(
                cluster: cluster, topic: position.partition.topic, partition: position.partition.partition)
            let start = positions[position.partition] ?? 0
            var done = CompletionMap()
            if start == position.offset {
                if let map = CompletionMap(text: position.metadata, committed: start, of: identity) {
                    done = map
                } else {
                    logger.warning(
                        "the note with the group's offset is not the follower's: what it has recorded beyond the offset is "
                            + "recorded again", ["partition": .int(Int(position.partition.partition))])
                }
            }
            engine.begin(position.partition.partition, at: start, done: done, identity: identity)
        }
        if reader.deletedCount > 0 {
            logger.warning(
                "results were deleted by the topic's retention before the hub could be asked about them",
                ["count": .int(Int(reader.deletedCount))])
        }
        return Set(partitions)
    }

    /// Works until something ends it.
    func run() throws {
        if let interval = configuration.containerInterval {
            devices = try DeviceWatch(
                configuration, connectionString, interval: interval, logger: logger, wakeup: wakeup)
        }
        logger.info("following", ["topic": .string(configuration.topics.results), "hub": .string(configuration.hub)])
        while !isStopping() {
            let now = SystemClock.monotonic()
            let isBusy = try takeRecords(now)
            ask(now)
            try receiveOutcome()
            try beginTransaction(now)
            try lookAround(now)
            wait(now, isBusy: isBusy)
        }
        try finish()
    }

    func close() {
        devices?.close()
        calls.close()
        writer.close()
        reader.close()
    }

    // MARK: The loop

    private func wait(_ now: MonotonicTime, isBusy: Bool) {
        var end = now.advanced(byMilliseconds: isBusy ? 0 : Self.turnMilliseconds)
        for moment in [engine.nextWake, calls.nextDeadline] { if let moment { end = min(end, moment) } }
        let count = loop.wait(timeoutMilliseconds: EventLoop.timeoutMilliseconds(until: end, now: now))
        let later = SystemClock.monotonic()
        for index in 0..<count {
            let event = loop[index]
            if event.token.owner == Self.callsOwner {
                calls.handle(event, now: later)
            } else {
                wakeup.drain()
            }
        }
        if let deadline = calls.nextDeadline, deadline <= later { calls.tick(later) }
        let wall = SystemClock.wall()
        calls.drain(wall: wall) { token, answer in
            if case .unavailable(let reason, _) = answer { complain(reason, later) }
            engine.answered(token, answer, now: later, wall: wall)
        }
    }

    private func ask(_ now: MonotonicTime) {
        let wall = SystemClock.wall()
        while let ask = engine.nextAsk(now: now) { calls.ask(ask.backendID, token: ask.token, now: now, wall: wall) }
    }

    /// Takes what there is room for; whether there may be more at once.
    private func takeRecords(_ now: MonotonicTime) throws(KafkaError) -> Bool {
        let wall = SystemClock.wall()
        for _ in 0..<Self.recordsPerTurn {
            if pending == nil { pending = try nextRecord() }
            guard let record = pending, engine.mayTake(record.partition, record.offset) else { return false }
            engine.take(
                record.result, byteCount: record.byteCount, partition: record.partition, offset: record.offset,
                now: now, wall: wall)
            pending = nil
        }
        return true
    }

    private func nextRecord() throws(KafkaError) -> Pending? {
        guard case .record(let message) = try reader.next() else { return nil }
        defer { message.release() }
        let result = message.withValue { value -> NotificationResult? in
            // What somebody else has written there is no result.
            guard let value else { return nil }
            return try? NotificationResult(decoding: value)
        }
        return Pending(
            partition: message.partition, offset: message.offset, result: result, byteCount: message.valueCount)
    }

    private func complain(_ reason: String, _ now: MonotonicTime) {
        guard now >= nextWarning else { return }
        nextWarning = now.advanced(byMilliseconds: Self.reportMilliseconds)
        logger.warning(
            "the hub does not say what became of its messages, asking again",
            ["reason": .string(SafeText.escaped(String(reason.prefix(300))))])
    }

    // MARK: Transactions

    private func beginTransaction(_ now: MonotonicTime, isLast: Bool = false) throws {
        guard writing == nil else { return }
        if !isLast, let news = devices?.takeWork() {
            writing = (true, .now)
            return try writer.begin(FeedbackWriter.Work(records: news, positions: [], group: nil))
        }
        // A record that waits for room lies below the position already.
        if pending == nil {
            for (partition, position) in reader.positions {
                engine.reachedEnd(of: partition.partition, at: position)
            }
        }
        guard let batch = engine.takeBatch(now: now, isLast: isLast) else { return }
        writing = (false, .now)
        let results = configuration.topics.results
        try writer.begin(
            FeedbackWriter.Work(
                records: batch.feedback.map {
                    FeedbackWriter.Record(
                        topic: configuration.topics.feedback, key: $0.recordKey, value: $0.encoded())
                },
                positions: batch.positions.map {
                    CommitPosition(
                        partition: TopicPartition(topic: results, partition: $0.partition), offset: $0.offset,
                        metadata: $0.metadata)
                }, group: reader.consumer.groupMetadata()))
    }

    private func receiveOutcome() throws {
        guard let current = writing, let outcome = writer.takeOutcome() else { return }
        writing = nil
        switch outcome {
        case .success: if current.isOfDevices { devices?.written() } else { engine.committed() }
        case .failure(let error):
            // What took longer than the brokers wait was ended by them, and nobody else has the name.
            let isLate = ContinuousClock.now - current.since >= configuration.transactionTimeout
            if writer.isFenced(error), !isLate {
                throw Ending.final(
                    "another herald feedback of the same group has begun; only one of them works at a time")
            }
            throw error
        }
    }

    /// Makes durable what is known, and leaves the rest for the next start.
    private func finish() throws {
        repeat {
            while writing != nil {
                _ = wakeup.wait(for: .seconds(1))
                wakeup.drain()
                try receiveOutcome()
            }
            try beginTransaction(SystemClock.monotonic(), isLast: true)
        } while writing != nil
        report()
    }

    // MARK: Now and then

    private func lookAround(_ now: MonotonicTime) throws {
        if now >= nextReport {
            nextReport = now.advanced(byMilliseconds: Self.reportMilliseconds)
            report()
        }
        if now >= nextPartitions {
            nextPartitions = now.advanced(byMilliseconds: Self.partitionsMilliseconds)
            // Brokers that are away are noticed elsewhere.
            let found = try? reader.consumer.queries.partitions(
                of: configuration.topics.results, timeoutMilliseconds: Self.questionMilliseconds)
            if let found, found.count > partitions.count { throw Ending.again }
        }
        guard now >= nextLook else { return }
        nextLook = now.advanced(byMilliseconds: Self.lookMilliseconds)
        for notice in reader.consumer.takeNotices().notices where notice.error != nil {
            logger.debug("\(SafeText.escaped(notice.text))")
        }
        do {
            guard try configuration.connectionString() != connectionString else { return }
        } catch {
            return logger.warning("the hub's connection string cannot be read again, going on with the last: \(error)")
        }
        logger.info("the hub's connection string has changed")
        throw Ending.again
    }

    private func report() {
        let counts = engine.counts
        guard counts != reported else { return }
        reported = counts
        var fields: LogFields = [
            "waiting": .int(counts.waiting), "inFlight": .int(counts.inFlight), "asked": .int(counts.asked),
        ]
        for conclusion in NotificationFeedback.Conclusion.allCases {
            fields[conclusion.rawValue] = .int(counts.recorded[conclusion] ?? 0)
        }
        if let oldest = counts.oldest {
            fields["oldestSeconds"] = .int(Int(SystemClock.wall().milliseconds(since: oldest) / 1_000))
        }
        logger.info("feedback", fields)
    }
}
