internal import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldHub
internal import HeraldKafka
internal import HeraldTelemetry
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// A follower's access to the brokers, the hub, the clocks and the log.
///
/// It belongs to one thread, and blocks while it queries the group's offsets and while it waits.
final class FeedbackClients: JobIO {
    private static let wakeupOwner: UInt8 = 1
    private static let callsOwner: UInt8 = 2
    private static let questionTimeout = Milliseconds.seconds(5)
    /// The wait for a topic that was just created.
    private static let topicPatience = Duration.seconds(5)
    /// The interval at which the loop looks for records: feedback is not urgent.
    private static let turnLength: Milliseconds = .milliseconds(100)
    private static let recordsPerTurn = 2_000
    private static let lookInterval: Milliseconds = .seconds(5)
    private static let partitionsInterval: Milliseconds = .minutes(1)
    private static let reportInterval: Milliseconds = .minutes(1)

    private struct Pending {
        var partition: Int32
        var offset: Int64
        var result: NotificationResult?
        var byteCount: Int
    }

    /// The clients of one stretch of following: from the committed offsets to the first trouble.
    private struct Stretch {
        let connectionString: HubConnectionString
        let calls: MessageCalls
        let reader: TopicReader
        let partitions: Set<TopicPartition>
        let devices: DeviceWatch?
        var pending: Pending?

        func close() {
            devices?.close()
            calls.close()
            reader.close()
        }
    }

    private let configuration: FeedbackConfiguration
    private let logger: Logger
    private let wakeup: Wakeup
    private let isStopping: () -> Bool
    private let loop: EventLoop
    private let transactor: Transactor
    private var stretch: Stretch?
    /// The result of ``FeedbackPublication/Action/findStarts``.
    private var beginning: Result<[FeedbackPublication.Start], KafkaError>?
    private var answers: [(token: UInt64, answer: MessageAnswer)] = []
    private var isBusy = false
    private var nextLook = MonotonicTime.distantPast
    private var nextPartitions = MonotonicTime.distantPast
    private var nextReport: MonotonicTime
    private var nextWarning = MonotonicTime.distantPast
    private var reported = FeedbackEngine.Counts()

    init(
        _ configuration: FeedbackConfiguration, logger: Logger, wakeup: Wakeup, isStopping: @escaping () -> Bool
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.wakeup = wakeup
        self.isStopping = isStopping
        loop = try EventLoop()
        try loop.add(wakeup.descriptor, token: EventToken(owner: Self.wakeupOwner), interest: .readableEdges)
        transactor = Transactor(properties: configuration.writerProperties, wakeup: wakeup)
        nextReport = SystemClock.monotonic().advanced(by: Self.reportInterval)
    }

    func close() {
        endStretch()
        transactor.close()
    }

    private func endStretch() {
        stretch?.close()
        (stretch, answers) = (nil, [])
    }

    // MARK: What the machine wants

    var now: Moment { SystemClock.moment() }

    func perform(_ action: FeedbackMachine.Action) {
        switch action {
        case .write(let action):
            if case .claim = action { endStretch() }
            transactor.perform(action)
        case .findStarts:
            beginning = Result { try begin() }.mapError { error in
                error as? KafkaError ?? KafkaError(code: KafkaError.Code.state, message: "\(error)")
            }
        case .ask(let ask):
            let now = now
            stretch?.calls.ask(ask.backendID, token: ask.token, now: now.monotonic, wall: now.wall)
        case .devicesWritten: stretch?.devices?.written()
        case .notice(let notice): announce(notice)
        }
    }

    private func announce(_ notice: FeedbackPublication.Notice) {
        switch notice {
        case .retries(let cause): logger.warning("interrupted, trying again: \(cause)")
        case .following:
            logger.info(
                "following", ["topic": .string(configuration.topics.results), "hub": .string(configuration.hub)])
        case .foreignNote(let partition):
            logger.warning(
                "the note with the group's offset is not the follower's: what it has recorded beyond the offset is "
                    + "recorded again", ["partition": .int(Int(partition))])
        }
    }

    // MARK: Where the group stands

    private func begin() throws -> [FeedbackPublication.Start] {
        let connectionString = try configuration.connectionString()
        let reader = try TopicReader(properties: configuration.readerProperties)
        do {
            let (partitions, starts) = try start(reader)
            try startStretch(connectionString, reader, Set(partitions))
            return starts
        } catch {
            reader.close()
            throw error
        }
    }

    private func startStretch(
        _ connectionString: HubConnectionString, _ reader: TopicReader, _ partitions: Set<TopicPartition>
    ) throws {
        let devices = try configuration.containerInterval.map {
            try DeviceWatch(configuration, connectionString, interval: $0, logger: logger, wakeup: wakeup)
        }
        let calls = MessageCalls(
            loop: loop, owner: Self.callsOwner, connectionString, hub: configuration.hub,
            connections: configuration.connections, timeout: configuration.timeout)
        stretch = Stretch(
            connectionString: connectionString, calls: calls, reader: reader, partitions: partitions, devices: devices)
        transactor.group = reader.consumer.groupMetadata()
        let now = SystemClock.monotonic()
        nextLook = now
        nextPartitions = now.advanced(by: Self.partitionsInterval)
    }

    /// Reads each partition from the group's offsets, which no longer move once the name is claimed.
    private func start(
        _ reader: TopicReader
    ) throws(KafkaError) -> (partitions: [TopicPartition], starts: [FeedbackPublication.Start]) {
        let queries = reader.consumer.queries
        func find(_ topic: String) throws(KafkaError) -> [TopicPartition] {
            try SettlingPatience(Self.topicPatience).outwait { () throws(KafkaError) in
                try queries.partitions(of: topic, timeout: Self.questionTimeout)
            }
        }
        _ = try find(configuration.topics.feedback)
        let partitions = try find(configuration.topics.results)
        let committed = try queries.committed(partitions, timeout: Self.questionTimeout)
        let cluster = queries.clusterID ?? ""
        try reader.begin(
            Dictionary(
                uniqueKeysWithValues: committed.map {
                    ($0.partition, $0.offset >= 0 ? .offset($0.offset) : .beginning)
                }))
        let positions = reader.positions
        if reader.deletedCount > 0 {
            logger.warning(
                "results were deleted by the topic's retention before the hub could be asked about them",
                ["count": .int(Int(reader.deletedCount))])
        }
        let starts = committed.map {
            FeedbackPublication.Start(
                partition: $0.partition.partition, committed: $0.offset, metadata: $0.metadata,
                offset: positions[$0.partition] ?? 0,
                identity: PartitionIdentity(
                    cluster: cluster, topic: $0.partition.topic, partition: $0.partition.partition))
        }
        return (partitions, starts)
    }

    // MARK: What arrives

    func deliver(to machine: inout FeedbackMachine) {
        let now = now
        if isStopping() { machine.stop(now: now) }
        transactor.serve { machine.receive($0, now: now) }
        switch beginning {
        case .success(let starts): machine.started(starts, now: now)
        case .failure(let error): machine.notStarted(error, now: now)
        case nil: break
        }
        beginning = nil
        report(machine.counts, now.monotonic)
        guard stretch != nil else { return }
        for (token, answer) in answers { machine.answered(token, answer, now: now) }
        answers = []
        if let news = stretch?.devices?.takeWork() { machine.takeDevices(news) }
        deliverRecords(to: &machine, now)
        lookAround(&machine, now.monotonic)
    }

    /// Takes the next records while there is room.
    private func deliverRecords(to machine: inout FeedbackMachine, _ now: Moment) {
        isBusy = false
        do throws(KafkaError) {
            for _ in 0..<Self.recordsPerTurn {
                guard let record = try nextRecord() else { return reportEnds(to: &machine) }
                stretch?.pending = record
                guard machine.mayTake(record.partition, record.offset) else { return }
                machine.take(
                    record.result, byteCount: record.byteCount, partition: record.partition, offset: record.offset,
                    now: now)
                stretch?.pending = nil
            }
            isBusy = true
            reportEnds(to: &machine)
        } catch {
            machine.readingFailed(error)
        }
    }

    private func reportEnds(to machine: inout FeedbackMachine) {
        for (partition, position) in stretch?.reader.positions ?? [:] {
            machine.reachedEnd(of: partition.partition, at: position)
        }
    }

    /// The record that found no room, or else the next one.
    private func nextRecord() throws(KafkaError) -> Pending? {
        if let pending = stretch?.pending { return pending }
        guard case .record(let message)? = try stretch?.reader.next() else { return nil }
        defer { message.release() }
        return Pending(
            partition: message.partition, offset: message.offset, result: message.result, byteCount: message.valueCount)
    }

    func wait(until moment: MonotonicTime?) {
        let now = SystemClock.monotonic()
        var end = now.advanced(by: isBusy || beginning != nil ? .zero : Self.turnLength)
        for moment in [moment, stretch?.calls.nextDeadline] { if let moment { end = min(end, moment) } }
        let count = loop.wait(timeout: EventLoop.timeout(until: end, now: now))
        let later = SystemClock.monotonic()
        for index in 0..<count {
            let event = loop[index]
            if event.token.owner == Self.callsOwner {
                stretch?.calls.handle(event, now: later)
            } else {
                wakeup.drain()
            }
        }
        guard let calls = stretch?.calls else { return }
        if let deadline = calls.nextDeadline, deadline <= later { calls.tick(later) }
        calls.drain(wall: SystemClock.wall()) { token, answer in
            if case .unavailable(let reason, _) = answer { complain(reason, later) }
            answers.append((token, answer))
        }
    }

    private func complain(_ reason: String, _ now: MonotonicTime) {
        guard now >= nextWarning else { return }
        nextWarning = now.advanced(by: Self.reportInterval)
        logger.warning(
            "the hub does not say what became of its messages, asking again",
            ["reason": .string(SafeText.escaped(String(reason.prefix(300))))])
    }

    // MARK: Now and then

    private func lookAround(_ machine: inout FeedbackMachine, _ now: MonotonicTime) {
        guard let stretch else { return }
        if now >= nextPartitions {
            nextPartitions = now.advanced(by: Self.partitionsInterval)
            // Absent brokers are noticed elsewhere.
            let found = try? stretch.reader.consumer.queries.partitions(
                of: configuration.topics.results, timeout: Self.questionTimeout)
            if let found, found.count > stretch.partitions.count { machine.beginAgain() }
        }
        guard now >= nextLook else { return }
        nextLook = now.advanced(by: Self.lookInterval)
        for notice in stretch.reader.consumer.takeNotices().notices where notice.error != nil {
            logger.debug("\(SafeText.escaped(notice.text))")
        }
        do {
            guard try configuration.connectionString() != stretch.connectionString else { return }
            logger.info("the hub's connection string has changed")
            machine.beginAgain()
        } catch {
            logger.warning("the hub's connection string cannot be read again, going on with the last: \(error)")
        }
    }

    private func report(_ counts: @autoclosure () -> FeedbackEngine.Counts, _ now: MonotonicTime) {
        guard now >= nextReport else { return }
        nextReport = now.advanced(by: Self.reportInterval)
        report(counts())
    }

    /// Logs the progress, unless nothing has changed since.
    func report(_ counts: FeedbackEngine.Counts) {
        guard counts != reported else { return }
        reported = counts
        var fields: LogFields = [
            "waiting": .int(counts.waiting), "inFlight": .int(counts.inFlight), "asked": .int(counts.asked),
        ]
        for conclusion in NotificationFeedback.Conclusion.allCases {
            fields[conclusion.rawValue] = .int(counts.recorded[conclusion] ?? 0)
        }
        if let oldest = counts.oldest {
            fields["oldestSeconds"] = .int(Int(SystemClock.wall().time(since: oldest).wholeSeconds))
        }
        logger.info("feedback", fields)
    }
}
