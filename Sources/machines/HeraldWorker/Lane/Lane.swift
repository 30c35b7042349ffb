package import HeraldCore
import HeraldDriver
import HeraldEvents
package import HeraldKafka
package import HeraldTelemetry
package import HeraldTime

/// One thread's worker: an ``Engine`` that decides, and the loop that carries out its decisions over a ``LaneIO``.
///
/// Nothing stands between a record's arrival and its call, and the thread blocks only in the loop's wait.
///
/// | file | part |
/// |---|---|
/// | `LaneIO.swift`, `LaneMessage.swift` | its I/O and its messages |
/// | `Lane+Timers.swift` | its periodic work |
/// | `Lane+Run.swift` | the loop's end |
/// | `Lane+Records.swift` | taken records |
/// | `Lane+Unreadable.swift` | unreadable batches |
/// | `Lane+Assignments.swift` | partitions that come and go |
/// | `Lane+Caps.swift` | what caps count, read at an assignment |
/// | `Lane+Calls.swift` | calls of the backend |
/// | `Lane+Producer.swift` | written records |
/// | `Lane+Commits.swift`, `Lane+Transactions.swift` | commits and transactions |
/// | `Lane+Report.swift` | its reports |
/// | `Lane+Waiting.swift` | answers about waiting events |
/// | `Lane+Traces.swift`, `Traces/` | spans of events and calls |
package final class Lane<IO: LaneIO> {
    package let io: IO
    let number: Int
    /// Its configuration at the start; the engine has the live part in its present state.
    let configuration: EngineConfiguration
    /// The weight of each request topic, in the order of `configuration.topics.requests`.
    let requestWeights: [Int]
    let intervals: LaneIntervals
    let logger: Logger
    /// The maker of spans; `nil` when tracing is off.
    let tracer: LaneTracer?

    // State that every record touches belongs to the lane's thread alone and is never accessed twice at once: the
    // checks of a class's properties cost a twentieth of an event's time.
    @exclusivity(unchecked) package internal(set) var engine: Engine
    /// The reason why it cannot continue.
    @exclusivity(unchecked) package internal(set) var end: LaneEnd?
    /// The end of the drain, set when the engine has left.
    @exclusivity(unchecked) package internal(set) var leaving: LaneEnd?

    /// The record in each of the engine's slots.
    @exclusivity(unchecked) package internal(set) var records: [IO.Record.Retained?]

    // The assignment.
    /// The number of assignments, so that findings about an older one are dropped.
    var assignment = 0
    /// The number of readings, so that answers about an older one are recognised.
    var reading = 0
    /// The partitions of an assignment that is not answered yet.
    var pendingAssignment: [TopicPartition]?
    /// The time since which it is pending, and the trouble that delays its answer.
    var pendingSince = MonotonicTime.distantPast
    var pendingTrouble: KafkaError?
    /// The assigned partitions that are not consumed: they have no offset although their events have outcomes, or may
    /// have, or their start is unknown.
    var lostOffsets: [TopicPartition: StartPosition] = [:]
    /// The member's identity when its partitions were assigned: its offsets are accepted for that generation only.
    var member: IO.Member?
    var hasQueues = false
    /// The partitions whose range is asked for, because their next offset is not there: nothing of them is taken before
    /// the answer.
    package internal(set) var rangeQuestions: [TopicPartition: RangeQuestion] = [:]
    /// Those of them that are not consumed, because records were deleted before they were read.
    var lostRecords: [TopicPartition: LostRecords.Place] = [:]
    /// Partitions of delays whose fetched records were deleted before they were taken.
    var overtaken: Set<TopicPartition> = []
    /// The batches that the consumer could not read: the question about each, and the error in its place, if any.
    var inQuestion: [TopicPartition: (question: RangeQuestion, record: IO.Record?)] = [:]
    var isSubscribed = false
    /// Whether the log has a broken record of caps of this assignment.
    var hasToldOfBrokenCaps = false

    // The producer.
    /// Whether an abort's report is still to come.
    var isAborting = false
    /// Whether the broker has taken any record of this lane.
    var hasProduced = false
    /// The logged reason why the broker accepts no records.
    var produceTrouble: KafkaError?
    var reportAgain = MonotonicTime.distantPast
    /// The reasons why topics refused records, by their names.
    var recordRefusals: [String: RecordRefusal] = [:]
    /// The logged topic that accepts no records.
    var refusingTopic: String?
    var sayRefusalAgain = MonotonicTime.distantPast

    // The lane's figures for others.
    @exclusivity(unchecked) var meter: LaneMeter
    /// The counters at the last log lines.
    var reported: Counters
    var refusal: LaneReport.Trouble?
    /// The obstacle that keeps it out of the group, reported at each attempt; a ``BrokerMonitor`` logs it for all
    /// lanes.
    var groupObstacle: GroupObstacle?
    var commitTrouble: LaneReport.Trouble?
    /// The time since which outcomes wait without a commit.
    var outcomesWaitSince: MonotonicTime?
    var partitionReports: [PartitionReport] = []
    var oldestEvents: [WallTime?] = []
    var waiting: [Int] = []
    /// In an outage: when the first event that waits for its moment is due.
    var nextDue: WallTime?
    var nextReport = MonotonicTime.distantPast
    var nextProgress = MonotonicTime.distantPast
    /// The reading of the newest progress.
    var reportedReading = 0

    // Whether the next turn may take records at once.
    /// Whether there may be records that the next turn takes at once.
    @exclusivity(unchecked) package internal(set) var mayHaveMore = false
    var nextPoll: MonotonicTime
    var nextLook = MonotonicTime.distantPast
    /// The start of the latest turn.
    var lastTurn: Moment?
    /// The bytes fetched at the last look.
    var lookedBytes = 0

    // Reused for record after record.
    @exclusivity(unchecked) var headers = HeaderList()
    @exclusivity(unchecked) var output = OutputRecord()
    /// A record for which the engine had no room: offered again before anything else is taken.
    @exclusivity(unchecked) package internal(set) var refused: (record: IO.Record, source: Int)?

    /// A lane that joins the group as soon as its records can certainly be settled.
    ///
    /// - Parameters:
    ///   - number: The lane's number in its worker, from 0.
    ///   - requestWeights: The weight of each request topic.
    ///   - tracer: `nil` when no spans are wanted.
    package init(
        number: Int, configuration: EngineConfiguration, requestWeights: [Int], io: IO, logger: Logger,
        intervals: LaneIntervals = .usual, tracer: LaneTracer? = nil
    ) {
        self.number = number
        self.configuration = configuration
        self.requestWeights = requestWeights
        self.io = io
        self.logger = logger
        self.intervals = intervals
        self.tracer = tracer
        engine = Engine(configuration: configuration)
        reported = engine.counters
        meter = LaneMeter(services: configuration.decoder.pushServices.names.count)
        records = Array(repeating: nil, count: engine.capacity)
        nextPoll = io.now.monotonic
        if configuration.isAtomic { io.prepareProducer() } else { subscribe() }
    }

    func subscribe() {
        isSubscribed = true
        do {
            try io.subscribe()
        } catch {
            end = .failed("the topics could not be subscribed to: \(error).")
        }
    }

    // MARK: The loop

    /// One turn of the loop: receives, polls within the room, and carries out the decisions.
    ///
    /// - Parameter timeout: The longest wait planned for this turn.
    package func turn(_ events: LaneEvents, after timeout: Milliseconds) {
        let now = io.now
        noteStandstill(timeout, now: now)
        let isPoll = isDue(.poll, at: now.monotonic)
        if events.contains(.messages) { receiveMessages() }
        receiveAnswers(now: now)
        if isPoll || events.contains(.producer) { receiveDeliveries(now: now) }
        if isPoll || events.contains(.consumer) {
            nextPoll = now.monotonic.advanced(by: intervals.poll)
            io.filledQueues(all: isPoll) { engine.recordsArrived(in: $0) }
            receiveCommitOutcomes(now: now)
            serveConsumer()
        }
        if isDue(.look, at: now.monotonic) || io.fetchedBytes - lookedBytes >= LaneIntervals.lookBytes {
            lookAhead(now: now)
        }
        engine.tick(now: now)
        carryOut(now: now)
        pollRecords(now: now)
        if isDue(.report, at: now.monotonic) { leaveReport(now: now) }
        tracer?.handOver()
    }

    /// Tells the engine the delay of this turn.
    ///
    /// Where the monotonic clock stops with the machine, the wall clock shows it.
    private func noteStandstill(_ timeout: Milliseconds, now: Moment) {
        if let before = lastTurn {
            let passed = max(
                now.monotonic.time(since: before.monotonic), now.wall.time(since: before.wall))
            engine.stoodStill(for: passed - timeout)
        }
        lastTurn = now
    }

    func receiveMessages() {
        for message in io.drainMessages() {
            let now = io.now
            var isRecorded = false
            switch message {
            case .drain:
                logger.info("draining")
                warnOfOvertaken()
                engine.drain(now: now)
            case .starts(let assignment, let result): answerAssignment(assignment, result)
            case .range(let partition, let question, let result): judgeRange(of: partition, question, result)
            case .batch(let partition, let question, let result): judgeBatch(of: partition, question, result)
            case .transaction(let report):
                receive(report, now: now)
                isRecorded = report.isCommitted
            case .settings(let settings): use(settings, now: now)
            case .standingStill(let partitions): askForStandstill(of: partitions)
            case .overtaken(let partitions): askForDeleted(partitions)
            case .partitionCounts(let counts): engine.use(partitionCounts: counts)
            case .missingTopics(let topics):
                for topic in topics { noteMissing(topic) }
                engine.use(missingTopics: topics, now: now)
            case .caps(let assignment, let records): receiveCaps(records, for: assignment)
            case .capsRead(let assignment, let homes): capsAreRead(homes, for: assignment)
            case .campaign(let name, let control): engine.campaign(name, is: control, now: now)
            case .question(let question): question.answer(waiting(question.query, now: now))
            case .credentialsChanged: engine.credentialsChanged(now: now)
            case .credentialsUnavailable: engine.credentialsUnavailable(now: now)
            case .credentialsRenewed: engine.credentialsRenewed(now: now)
            }
            carryOut(now: io.now, isRecorded: isRecorded)
        }
    }

    private func use(_ settings: LaneSettings, now: Moment) {
        io.use(settings)
        engine.use(settings.engine, now: now)
        records += Array(repeating: nil, count: engine.capacity - records.count)
        tracer?.grow(to: engine.capacity)
    }

    /// Carries out the engine's decisions, in order, with their immediate consequences.
    ///
    /// - Parameter isRecorded: whether events are released because their outcome is durable now.
    func carryOut(now: Moment, isRecorded: Bool = false) {
        var next = 0
        while next < engine.actions.count {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token, now: now)
            case .produce(let id): produce(id, now: now)
            case .release(let slot):
                release(slot)
                tracer?.end(slot, isRecorded: isRecorded, now: now.monotonic)
            case .retainRecord(let slot): keep(slot)
            case .commit(let sequence): commit(sequence, now: now)
            case .beginTransaction: beginTransaction(now: now)
            case .abortTransaction:
                isAborting = true
                io.abortTransaction()
            case .giveUpRecords: io.giveUpRecords()
            case .renewProducer: renewProducer()
            case .resolveCommit(let sequence): io.resolveCommit(sequence, commitPositions())
            case .rewind(let partition): rewind(partition)
            case .pause(let partition): setPaused(true, partition)
            case .retainQueue(let source): io.retainQueue(source)
            case .dropRetained(let source): io.dropRetained(source)
            case .resume(let partition): setPaused(false, partition)
            case .unassign: unassign()
            case .leave(let complete): leaving = .drained(complete: complete)
            case .renewCredentials: io.renewCredentials()
            case .pauseCampaign(let failures): io.pauseCampaign(failures)
            case .notice(let notice): announce(notice)
            }
        }
        engine.clearActions()
    }

    private func announce(_ notice: Notice) {
        if case .recordRefused(let topic) = notice { announceRefusedRecord(of: topic, now: io.now) }
        if case .retriesDetoured(let topic, let other) = notice { announceDetour(of: topic, to: other, now: io.now) }
        io.announce(notice, outage: engine.outage)
        // `/readyz` has the log's news at the end of this turn: people and tools ask right after they read it.
        nextReport = .distantPast
        if case .passedOver(let passed) = notice { meter.passed(passed, now: io.now.monotonic) }
        guard case .rival = notice else { return }
        end = .failed(
            "another process writes under this worker's name: two workers must never share kafka.instance. "
                + "Give each its own, or leave it out. Nothing is lost.")
    }

    private func release(_ slot: Int32) {
        guard let record = records[Int(slot)] else { return io.isBroken("a slot without a record is released") }
        records[Int(slot)] = nil
        record.release()
    }

    private func keep(_ slot: Int32) {
        guard records[Int(slot)] != nil else { return io.isBroken("a slot without a record is to be kept") }
        records[Int(slot)]?.keep()
    }

    func releaseEverything() {
        for slot in records.indices where records[slot] != nil {
            release(Int32(slot))
            tracer?.end(Int32(slot), isRecorded: false, now: io.now.monotonic)
        }
        for (_, record) in inQuestion.values { record?.release() }
        inQuestion.removeAll()
        refused?.record.release()
        refused = nil
    }
}
