package import HeraldCore
package import HeraldDriver
package import HeraldEvents
package import HeraldHub
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime

/// Follows the results topic and says once what became of each message that a hub took: pure.
///
/// It claims the group's name, finds out where its last transaction left off, and follows from there. After any trouble
/// of a transaction, of reading, or when partitions came, it starts again in the same way; so there is one way to
/// begin, after a kill as after a broker that was away. ``FeedbackEngine`` decides about the questions, ``BatchWriter``
/// about transactions, and ``Phase`` has the rest.
package struct FeedbackMachine: JobMachine {
    /// What it wants done.
    package enum Action: Sendable {
        case write(BatchWriter.Action)
        /// Finds out where the group stands, and reads from there: ``started(_:now:)``, ``notStarted(_:now:)``.
        case findStarts
        case ask(FeedbackEngine.Ask)
        /// What was handed over by ``takeDevices(_:now:)`` is durable.
        case devicesWritten
        case notice(Notice)
    }

    /// What people should know.
    package enum Notice: Sendable {
        /// No broker answers; it goes on trying.
        case waiting(KafkaError)
        case following
        /// It begins from what is committed.
        case beginningAgain(String)
        /// A note with the group's offset is of something else.
        case foreignNote(partition: Int32)
    }

    /// How it ended.
    package enum End: Sendable, Equatable {
        /// It was told to.
        case stopped
        /// Another follower of the group has the name now.
        case replaced
        /// It never came to follow, and trying again would not help.
        case failed(KafkaError)
    }

    /// Where a partition is taken up.
    package struct Start: Sendable {
        package var partition: Int32
        /// What the group has committed; negative without.
        package var committed: Int64
        package var metadata: String
        /// From where it is read: later than committed when records were deleted.
        package var offset: Int64
        package var identity: PartitionIdentity

        package init(
            partition: Int32, committed: Int64, metadata: String, offset: Int64, identity: PartitionIdentity
        ) {
            self.partition = partition
            self.committed = committed
            self.metadata = metadata
            self.offset = offset
            self.identity = identity
        }
    }

    /// What it keeps to.
    package struct Configuration: Sendable {
        package var engine: FeedbackEngine.Configuration
        package var writer: BatchWriter.Configuration
        package var topics: Topics

        package init(
            engine: FeedbackEngine.Configuration, writer: BatchWriter.Configuration, topics: Topics
        ) {
            self.engine = engine
            self.writer = writer
            self.topics = topics
        }
    }

    private enum Batch {
        case feedback
        case devices
    }

    /// Before it begins again after trouble.
    static let restTime: Milliseconds = .seconds(2)

    private let configuration: Configuration
    private(set) var phase = Phase.idle
    private var writer: BatchWriter
    private var engine: FeedbackEngine
    private var actions: [Action] = []
    /// What the batch under way is.
    private var writing: Batch?
    private var devices: [OutgoingRecord]?
    /// It starts again as soon as no batch is under way, after so long (milliseconds).
    private var beginsAgain: Milliseconds?
    private var hasFollowed = false
    /// It is known that no broker answers.
    private var isWaiting = false

    /// A machine that begins with the first ``advance(now:)``.
    package init(_ configuration: Configuration, now: MonotonicTime) {
        self.configuration = configuration
        writer = BatchWriter(configuration.writer)
        engine = FeedbackEngine(configuration.engine, now: now)
    }

    package var isOver: Bool { phase.name == .ended }

    /// How it ended; `nil` before.
    package var end: End? { if case .ended(let end) = phase { end } else { nil } }

    /// What is known of the work, for people.
    package var counts: FeedbackEngine.Counts { engine.counts }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var nextWake: MonotonicTime? {
        var moments = [writer.nextWake]
        switch phase {
        case .idle: moments.append(.distantPast)
        case .resting(let end): moments.append(end)
        case .following:
            moments.append(engine.nextAskMoment)
            if writer.isReady { moments.append(devices == nil ? engine.nextBatchMoment : .distantPast) }
        case .finishing: if writer.isReady { moments.append(.distantPast) }
        case .claiming, .finding, .ended: break
        }
        return moments.compactMap { $0 }.min()
    }

    // MARK: Inputs

    /// Ends in good order: what is known becomes durable.
    package mutating func stop(now: MonotonicTime) {
        switch phase {
        case .idle, .claiming, .finding, .resting: finish(.stopped)
        case .following:
            phase.become(.finishing)
            writer.giveUp(now: now)
        case .finishing, .ended: break
        }
    }

    /// Starts again at once: partitions came, or other credentials.
    package mutating func beginAgain() {
        if case .following = phase { beginsAgain = beginsAgain ?? .zero }
    }

    package mutating func receive(_ report: BatchWriter.Report, now: Moment) {
        writer.receive(report, now: now.monotonic)
        follow(now)
    }

    /// The group stands there, and is read from there.
    package mutating func started(_ starts: [Start], now: Moment) {
        guard case .finding = phase else { return }
        hasFollowed = true
        engine = FeedbackEngine(configuration.engine, now: now.monotonic, after: engine)
        for start in starts {
            var done = CompletionMap()
            if start.offset == start.committed {
                if let map = CompletionMap(text: start.metadata, committed: start.offset, of: start.identity) {
                    done = map
                } else {
                    actions.append(.notice(.foreignNote(partition: start.partition)))
                }
            }
            engine.begin(start.partition, at: start.offset, done: done, identity: start.identity)
        }
        phase.become(.following)
        actions.append(.notice(.following))
    }

    /// Where the group stands can't be found out.
    package mutating func notStarted(_ error: KafkaError, now: Moment) {
        if case .finding = phase { giveWay(to: error, now) }
    }

    /// What is followed can't be read.
    package mutating func readingFailed(_ error: KafkaError, now: Moment) {
        guard case .following = phase, beginsAgain == nil else { return }
        actions.append(.notice(.beginningAgain("\(error)")))
        beginsAgain = Self.restTime
    }

    /// Whether there is room for a partition's next record.
    package func mayTake(_ partition: Int32, _ offset: Int64) -> Bool {
        phase.name == .following && engine.mayTake(partition, offset)
    }

    /// Takes a record of the results topic; `nil` for what is no result.
    package mutating func take(
        _ result: NotificationResult?, byteCount: Int, partition: Int32, offset: Int64, now: Moment
    ) {
        guard case .following = phase else { return }
        engine.take(
            result, byteCount: byteCount, partition: partition, offset: offset, now: now.monotonic, wall: now.wall)
    }

    /// A partition was read up to there: what lies below and did not come never will.
    package mutating func reachedEnd(of partition: Int32, at offset: Int64) {
        if case .following = phase { engine.reachedEnd(of: partition, at: offset) }
    }

    package mutating func answered(_ token: UInt64, _ answer: MessageAnswer, now: Moment) {
        engine.answered(token, answer, now: now.monotonic, wall: now.wall)
    }

    /// Records of devices that are gone, to be written in one transaction: ``Action/devicesWritten``.
    package mutating func takeDevices(_ records: [OutgoingRecord]) { devices = records }

    package mutating func advance(now: Moment) {
        writer.advance(now: now.monotonic)
        follow(now)
        switch phase {
        case .idle: claim(now)
        case .resting(let end): if end <= now.monotonic { claim(now) }
        case .following:
            if let pause = beginsAgain, writer.isReady { return rest(pause, now) }
            writeNext(now)
            while let ask = engine.nextAsk(now: now.monotonic) { actions.append(.ask(ask)) }
        case .finishing: if writer.isReady { writeLast(now) }
        case .claiming, .finding, .ended: break
        }
        takeWriterActions()
    }

    // MARK: Beginning

    private mutating func claim(_ now: Moment) {
        (writing, devices, beginsAgain) = (nil, nil, nil)
        phase.become(.claiming)
        writer.claim(now: now.monotonic)
        takeWriterActions()
    }

    private mutating func rest(_ time: Milliseconds, _ now: Moment) {
        phase.become(.resting(until: now.monotonic.advanced(by: time)))
    }

    private mutating func finish(_ end: End) { phase.become(.ended(end)) }

    /// Begins again after trouble, unless it never came to follow and never will.
    private mutating func giveWay(to error: KafkaError, _ now: Moment) {
        if case .finishing = phase { return finish(.stopped) }
        guard hasFollowed || !Self.isFinal(error) else { return finish(.failed(error)) }
        actions.append(.notice(.beginningAgain("\(error)")))
        rest(Self.restTime, now)
    }

    private static func isFinal(_ error: KafkaError) -> Bool {
        switch error.kind {
        case .forbidden, .unsupported, .unknownTopic: true
        default: false
        }
    }

    // MARK: Transactions

    private mutating func takeWriterActions() {
        actions += writer.takeActions().map { .write($0) }
    }

    /// Does what the writer's news mean.
    private mutating func follow(_ now: Moment) {
        for event in writer.takeEvents() {
            switch (event, phase) {
            case (_, .ended): break
            case (.waiting(let error), _):
                if !isWaiting { actions.append(.notice(.waiting(error))) }
                isWaiting = true
            case (.claimed, .claiming):
                isWaiting = false
                phase.become(.finding)
                actions.append(.findStarts)
            case (.written, _): written()
            case (.lost(.fenced(isLong: false)), _): finish(.replaced)
            case (.lost(.fenced(isLong: true)), _): giveWay(to: KafkaError(code: KafkaError.Code.fenced), now)
            case (.lost(.inDoubt(let error)), _), (.lost(.unreachable(let error)), _),
                (.lost(.unclaimable(let error)), _), (.refused(let error), _):
                giveWay(to: error, now)
            case (.claimed, _): break
            }
        }
        takeWriterActions()
    }

    private mutating func written() {
        switch writing {
        case .feedback: engine.committed()
        case .devices: actions.append(.devicesWritten)
        case nil: break
        }
        (writing, isWaiting) = (nil, false)
    }

    private mutating func writeNext(_ now: Moment) {
        guard writer.isReady else { return }
        if let devices {
            self.devices = nil
            writing = .devices
            return writer.write(BatchWriter.Batch(records: devices), now: now.monotonic)
        }
        if let batch = engine.takeBatch(now: now.monotonic) { write(batch, now) }
    }

    private mutating func writeLast(_ now: Moment) {
        guard let batch = engine.takeBatch(now: now.monotonic, isLast: true) else { return finish(.stopped) }
        write(batch, now)
    }

    private mutating func write(_ batch: FeedbackEngine.Batch, _ now: Moment) {
        writing = .feedback
        let topics = configuration.topics
        writer.write(
            BatchWriter.Batch(
                records: batch.feedback.map {
                    OutgoingRecord(topic: topics.feedback, key: $0.recordKey, value: $0.encoded())
                },
                positions: batch.positions.map {
                    CommitPosition(
                        partition: TopicPartition(topic: topics.results, partition: $0.partition), offset: $0.offset,
                        metadata: $0.metadata)
                }), now: now.monotonic)
    }
}
