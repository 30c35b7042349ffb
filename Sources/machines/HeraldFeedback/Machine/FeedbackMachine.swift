package import HeraldCore
package import HeraldDriver
package import HeraldEvents
package import HeraldHub
package import HeraldKafka
package import HeraldTime
package import HeraldTools

/// Follows the results topic and records once what happened to each message that a hub accepted: pure.
///
/// It claims the group's name, finds the end of its last transaction, and follows from there. After a failed
/// transaction or read, or when partitions were added, it starts again in the same way; so there is one way to begin,
/// after a kill as after an absent broker.
package typealias FeedbackMachine = PublicationMachine<FeedbackPublication>

/// What a ``FeedbackMachine`` records: a hub's answers, and devices that are gone; its ledger is the group's offsets.
///
/// ``FeedbackEngine`` decides about questions, and what leaves together.
package struct FeedbackPublication: PublicationWork {
    /// What it wants done.
    package enum Action: PublicationAction {
        case write(BatchWriter.Action)
        /// Find the group's offsets and read from there; then `started(_:now:)` or `notStarted(_:now:)`.
        case findStarts
        case ask(FeedbackEngine.Ask)
        /// The records from `takeDevices(_:)` are durable.
        case devicesWritten
        case notice(Notice)
    }

    /// News for people.
    package enum Notice: Sendable {
        /// It is interrupted by this, and goes on trying.
        case retries(String)
        case following
        /// A group offset's metadata was not written by a follower.
        case foreignNote(partition: Int32)
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

    private enum Part {
        case feedback(FeedbackEngine.Batch)
        case devices([OutgoingRecord])
    }

    package static let signInterval = Milliseconds.zero
    package static let hasLease = false
    package static let ledger = JobWaitReason.Reading.ends
    package static let source = JobWaitReason.Reading.outcomes

    private let configuration: FeedbackEngine.Configuration
    private let topics: Topics
    fileprivate var engine: FeedbackEngine
    /// What the next transaction, or the one under way, holds.
    private var part: Part?
    fileprivate var devices: [OutgoingRecord]?
    /// It begins again as soon as no batch is being written.
    fileprivate var beginsAgain = false
    private var hasFollowed = false
    /// Whether it was told that it is interrupted.
    private var isInterrupted = false

    /// - Parameter topics: those that it reads and writes.
    package init(_ configuration: FeedbackEngine.Configuration, topics: Topics, now: MonotonicTime) {
        (self.configuration, self.topics) = (configuration, topics)
        engine = FeedbackEngine(configuration, now: now)
    }

    package mutating func retries(_ cause: String) -> Action? {
        defer { isInterrupted = true }
        return isInterrupted ? nil : .notice(.retries(cause))
    }

    package mutating func claimed() -> (phase: PublicationPhase, action: Action) {
        (part, devices, beginsAgain, isInterrupted) = (nil, nil, false, false)
        return (.placing, .findStarts)
    }

    /// Follows from these offsets of the group.
    fileprivate mutating func begin(_ starts: [Start], now: MonotonicTime) -> [Action] {
        hasFollowed = true
        engine = FeedbackEngine(configuration, now: now, after: engine)
        var notices: [Action] = []
        for start in starts {
            var done = CompletionMap()
            if start.offset == start.committed {
                if let map = CompletionMap(text: start.metadata, committed: start.offset, of: start.identity) {
                    done = map
                } else {
                    notices.append(.notice(.foreignNote(partition: start.partition)))
                }
            }
            engine.begin(start.partition, at: start.offset, done: done, identity: start.identity)
        }
        return notices
    }

    // MARK: Its work

    package mutating func questions(now: Moment) -> [Action] {
        var asks: [Action] = []
        while let ask = engine.nextAsk(now: now.monotonic) { asks.append(.ask(ask)) }
        return asks
    }

    package mutating func nextStep(isStopping: Bool, now: Moment) -> PublicationStep {
        if beginsAgain, !isStopping { return .beginAnew }
        if let devices, !isStopping {
            (part, self.devices) = (.devices(devices), nil)
        } else {
            // At a stop what is known becomes durable, whenever the next batch would be due.
            guard let batch = engine.takeBatch(now: now.monotonic, isLast: isStopping) else {
                return isStopping ? .end(.interrupted) : .wait(.nextTurn)
            }
            part = .feedback(batch)
        }
        return .write(.part)
    }

    package func wakes(now: Moment) -> [MonotonicTime?] { [engine.nextAskMoment, engine.nextBatchMoment] }

    /// There is nothing to say at its beginning and its end.
    package mutating func batch(_ aim: PublicationAim, now: Moment) -> BatchWriter.Batch? {
        guard aim == .part else { return nil }
        switch part {
        case .feedback(let batch):
            return BatchWriter.Batch(
                records: batch.feedback.map {
                    OutgoingRecord(topic: topics.feedback, key: $0.recordKey, value: $0.encoded())
                },
                positions: batch.positions.map {
                    CommitPosition(
                        partition: TopicPartition(topic: topics.results, partition: $0.partition), offset: $0.offset,
                        metadata: $0.metadata)
                })
        case .devices(let records): return BatchWriter.Batch(records: records)
        case nil: return nil
        }
    }

    package mutating func written(_ aim: PublicationAim, now: Moment) -> [Action] {
        isInterrupted = false
        guard aim == .part else { return aim == .open ? [.notice(.following)] : [] }
        defer { part = nil }
        switch part {
        case .feedback: engine.committed()
        case .devices: return [.devicesWritten]
        case nil: break
        }
        return []
    }

    package mutating func recovery(
        from failure: BatchWriter.Failure, _ aim: PublicationAim?, after count: Int
    ) -> PublicationRecovery {
        switch failure {
        case .lost(.fenced(isLong: false)): .end(.takenOver)
        case .lost(.fenced(isLong: true)): recovery(from: KafkaError(code: KafkaError.Code.fenced))
        case .refused(let error), .lost(.inDoubt(let error)), .lost(.unreachable(let error)),
            .lost(.unclaimable(let error)):
            recovery(from: error)
        }
    }

    /// It begins again, unless it never followed and another attempt would not help.
    fileprivate func recovery(from error: KafkaError) -> PublicationRecovery {
        let again = PublicationRecovery.again(cause: "\(error)", isCounted: false)
        guard !hasFollowed else { return again }
        switch error.kind {
        case .forbidden:
            let advice = error.advice(
                KafkaPermission(.read, .write, on: .topic(topics.results), .topic(topics.feedback)))
            return .end(.failed(ToolFailure("the brokers forbid it: \(error)\(advice)")))
        case .unsupported:
            return .end(.failed(ToolFailure("the brokers have no transactions, and feedback needs them: \(error)")))
        case .unknownTopic:
            return .end(
                .failed(
                    ToolFailure(
                        "\(topics.results) or \(topics.feedback) is missing; make them with: herald topics apply "
                            + "(\(error))")))
        default: return again
        }
    }

    package var signs: Bool { false }
}

extension PublicationMachine<FeedbackPublication> {
    /// The progress of the work, for people.
    package var counts: FeedbackEngine.Counts { work.engine.counts }

    private var isFollowing: Bool { phase.name == .publishing && !isStopping }

    /// Starts following at these offsets of the group.
    package mutating func started(_ starts: [FeedbackPublication.Start], now: Moment) {
        guard case .placing = phase else { return }
        actions += work.begin(starts, now: now.monotonic)
        open(now)
    }

    /// Reacts to a failure to find the group's offsets.
    package mutating func notStarted(_ error: KafkaError, now: Moment) {
        if case .placing = phase { recover(work.recovery(from: error), now) }
    }

    /// Starts again, after new partitions or credentials.
    package mutating func beginAgain() { if isFollowing { work.beginsAgain = true } }

    /// Reacts to a failure to read the results.
    package mutating func readingFailed(_ error: KafkaError) {
        guard isFollowing, !work.beginsAgain else { return }
        work.beginsAgain = true
        if let notice = work.retries("\(error)") { actions.append(notice) }
    }

    /// Whether there is room for a partition's next record.
    package func mayTake(_ partition: Int32, _ offset: Int64) -> Bool {
        isFollowing && work.engine.mayTake(partition, offset)
    }

    /// Takes a record of the results topic; `nil` for a foreign one.
    package mutating func take(
        _ result: NotificationResult?, byteCount: Int, partition: Int32, offset: Int64, now: Moment
    ) {
        guard isFollowing else { return }
        work.engine.take(
            result, byteCount: byteCount, partition: partition, offset: offset, now: now.monotonic, wall: now.wall)
    }

    /// A partition was read up to there: missing lower offsets will never come.
    package mutating func reachedEnd(of partition: Int32, at offset: Int64) {
        if isFollowing { work.engine.reachedEnd(of: partition, at: offset) }
    }

    package mutating func answered(_ token: UInt64, _ answer: MessageAnswer, now: Moment) {
        work.engine.answered(token, answer, now: now.monotonic, wall: now.wall)
    }

    /// Takes records of devices that are gone, to be written in one transaction: `devicesWritten`.
    package mutating func takeDevices(_ records: [OutgoingRecord]) { work.devices = records }
}
