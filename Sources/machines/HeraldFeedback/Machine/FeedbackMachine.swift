package import HeraldCore
package import HeraldDriver
package import HeraldEvents
package import HeraldHub
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime

/// Follows the results topic and records once what happened to each message that a hub accepted: pure.
///
/// It claims the group's name, finds the end of its last transaction, and follows from there. After a failed
/// transaction or read, or when partitions were added, it starts again in the same way; so there is one way to begin,
/// after a kill as after an absent broker. ``FeedbackEngine`` decides about questions, ``BatchWriter`` about
/// transactions, and ``Phase`` about the rest.
package struct FeedbackMachine: JobMachine {
    /// The actions that it requests.
    package enum Action: Sendable {
        case write(BatchWriter.Action)
        /// Find the group's offsets and read from there; then ``started(_:now:)`` or ``notStarted(_:now:)``.
        case findStarts
        case ask(FeedbackEngine.Ask)
        /// The records from ``takeDevices(_:now:)`` are durable.
        case devicesWritten
        case notice(Notice)
    }

    /// News for people.
    package enum Notice: Sendable {
        /// No broker answers; it goes on trying.
        case waiting(KafkaError)
        case following
        /// It begins again at the committed offsets.
        case beginningAgain(String)
        /// A group offset's metadata was not written by a follower.
        case foreignNote(partition: Int32)
    }

    /// The way it ended.
    package enum End: Sendable, Equatable {
        /// It was asked to stop.
        case stopped
        /// Another follower of the group now owns the name.
        case replaced
        /// It never started to follow, and another attempt would not help.
        case failed(KafkaError)
    }

    /// The place at which a partition is resumed.
    package struct Start: Sendable {
        package var partition: Int32
        /// The group's committed offset; negative without one.
        package var committed: Int64
        package var metadata: String
        /// The offset to read from: beyond the committed one when records were deleted.
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

    /// Its settings.
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

    /// The rest before a new beginning after trouble.
    static let restTime: Milliseconds = .seconds(2)

    private let configuration: Configuration
    private(set) var phase = Phase.idle
    private var writer: BatchWriter
    private var engine: FeedbackEngine
    private var actions: [Action] = []
    /// The kind of the batch being written.
    private var writing: Batch?
    private var devices: [OutgoingRecord]?
    /// The pause before a new beginning, which comes as soon as no batch is being written.
    private var beginsAgain: Milliseconds?
    private var hasFollowed = false
    /// Whether the absence of brokers has been announced.
    private var isWaiting = false

    /// A machine that begins with the first ``advance(now:)``.
    package init(_ configuration: Configuration, now: MonotonicTime) {
        self.configuration = configuration
        writer = BatchWriter(configuration.writer)
        engine = FeedbackEngine(configuration.engine, now: now)
    }

    package var isOver: Bool { phase.name == .ended }

    /// The way it ended; `nil` before.
    package var end: End? { if case .ended(let end) = phase { end } else { nil } }

    /// The progress of the work, for people.
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

    /// Ends in good order: known conclusions become durable.
    package mutating func stop(now: MonotonicTime) {
        switch phase {
        case .idle, .claiming, .finding, .resting: finish(.stopped)
        case .following:
            phase.become(.finishing)
            writer.giveUp(now: now)
        case .finishing, .ended: break
        }
    }

    /// Starts again at once, after new partitions or credentials.
    package mutating func beginAgain() {
        if case .following = phase { beginsAgain = beginsAgain ?? .zero }
    }

    package mutating func receive(_ report: BatchWriter.Report, now: Moment) {
        writer.receive(report, now: now.monotonic)
        follow(now)
    }

    /// Starts following at these offsets of the group.
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

    /// Reacts to a failure to find the group's offsets.
    package mutating func notStarted(_ error: KafkaError, now: Moment) {
        if case .finding = phase { giveWay(to: error, now) }
    }

    /// Reacts to a failure to read the results.
    package mutating func readingFailed(_ error: KafkaError, now: Moment) {
        guard case .following = phase, beginsAgain == nil else { return }
        actions.append(.notice(.beginningAgain("\(error)")))
        beginsAgain = Self.restTime
    }

    /// Whether there is room for a partition's next record.
    package func mayTake(_ partition: Int32, _ offset: Int64) -> Bool {
        phase.name == .following && engine.mayTake(partition, offset)
    }

    /// Takes a record of the results topic; `nil` for a foreign one.
    package mutating func take(
        _ result: NotificationResult?, byteCount: Int, partition: Int32, offset: Int64, now: Moment
    ) {
        guard case .following = phase else { return }
        engine.take(
            result, byteCount: byteCount, partition: partition, offset: offset, now: now.monotonic, wall: now.wall)
    }

    /// A partition was read up to there: missing lower offsets will never come.
    package mutating func reachedEnd(of partition: Int32, at offset: Int64) {
        if case .following = phase { engine.reachedEnd(of: partition, at: offset) }
    }

    package mutating func answered(_ token: UInt64, _ answer: MessageAnswer, now: Moment) {
        engine.answered(token, answer, now: now.monotonic, wall: now.wall)
    }

    /// Takes records of devices that are gone, to be written in one transaction: ``Action/devicesWritten``.
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

    /// Begins again after trouble, unless it never started to follow and never will.
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

    /// Reacts to the writer's events.
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
