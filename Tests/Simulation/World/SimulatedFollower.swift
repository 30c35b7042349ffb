import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldFeedback
import HeraldHub
import HeraldKafka
import HeraldTime
import HeraldTools

/// One process that follows a hub's messages: the machine of a real one, over a simulated reader, producer and hub.
final class SimulatedFollower: SimulatedJob {
    /// All followers of a group write under one name.
    static let transactionalID = Process(.job, 0).member

    /// The state from one claim to the next.
    private struct Stretch {
        /// The next offset of each partition of the results.
        var positions: [Int64]
        /// A record that found no room.
        var pending: RecordName?
        /// The number of reported expired devices: those of the group's marks and the later ones.
        var devices: Int
        /// The next one waits for its transaction.
        var isTellingDevice = false
    }

    /// The limit of records read in a turn, and the interval of looks for more (milliseconds).
    private static let recordsPerTurn = 50
    static let turn: Int64 = 200
    /// The interval of looks for new partitions, and the time-out of its requests to a broker.
    private static let partitionsInterval: Int64 = 60_000
    private static let questionTimeout: Int64 = 5_000

    unowned let simulation: Simulation
    private let index: Int
    private let engine: FeedbackEngine.Configuration
    private let writer: BatchWriter.Configuration
    var driver: JobDriver<SimulatedFollower>?
    var client = TransactionClient()
    var produced: Set<ProductionID> = []
    var run = JobRun()

    // Inputs that the machine has not been given.
    private var standing: [Committed]?
    private var trouble: KafkaError?
    private var answers: [(token: UInt64, MessageAnswer)] = []
    /// It looks for records.
    private(set) var isLooking = false

    private var stretch: Stretch?
    private var nextPartitions: Int64 = 0
    /// Questions to the hub without an answer, since the last claim.
    private var asked: Set<UInt64> = []

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
        let choices = Choices(seed: simulation.scenario.seed)
        var engine = FeedbackEngine.Configuration()
        engine.asksPerSecond = choices.pick([5, 100], for: "follower.asksPerSecond")
        engine.inFlightLimit = choices.pick([1, 8, 64], for: "follower.inFlightLimit")
        engine.messageLimit = choices.pick([3, 40, 50_000], for: "follower.messageLimit")
        engine.batchLimit = choices.pick([1, 5, 1_000], for: "follower.batchLimit")
        self.engine = engine
        writer = BatchWriter.Configuration(
            transactionTimeout: Simulation.transactionTimeout,
            patience: choices.pick([.minutes(1), .seconds(12)], for: "follower.patience"))
    }

    var process: Process { Process(.job, index, life: life) }

    // MARK: Life and death

    func start() {
        (answers, standing, trouble, stretch) = ([], nil, nil, nil)
        isLooking = false
        begin {
            log("starts to follow")
            return FeedbackMachine(
                FeedbackPublication(engine, topics: simulation.scenario.topics, now: now.monotonic), writer: writer)
        }
    }

    /// Kills the process, which is started again.
    func kill() {
        log("is killed")
        end(restartWithin: 20_000)
    }

    private func end(restartWithin longest: Int64) {
        end()
        simulation.schedule(.follow(job: index, takesOver: false), after: chance[.jobStart].between(100, longest))
    }

    func ended(_ machine: FeedbackMachine) {
        let end = machine.end
        log("ends: \(end.map { "\($0)" } ?? "for no reason")")
        switch end {
        case .interrupted where run.isStopping: break
        case .takenOver:
            if !simulation.cluster.rivalled.contains(Self.transactionalID) {
                simulation.checkers.fail("\(process) says that another follower has its name, and none does")
            }
        default: simulation.checkers.fail("\(process) ends: \(String(describing: end))")
        }
        self.end(restartWithin: 5_000)
    }

    // MARK: Inputs

    var hasNews: Bool { standing != nil || trouble != nil }

    func take(_ news: JobNews) -> Bool {
        switch news {
        case .tick: break
        case .standing(let question, let committed):
            guard question == run.question else { return false }
            run.question += 1
            if let committed { standing = committed } else { trouble = .timedOut }
        case .answer(let token, let answer): answers.append((token, answer))
        case .state: misuse("it reads no state topic")
        }
        return true
    }

    // MARK: What the machine wants

    func perform(_ action: FeedbackMachine.Action) {
        guard isRunning else { return }
        // Between any two actions.
        if chance[.jobKill].happens(simulation.scenario.followerKills) { return kill() }
        switch action {
        case .write(let action): perform(action)
        case .findStarts: ask()
        case .ask(let ask): self.ask(ask)
        case .devicesWritten: deviceIsTold()
        case .notice(let notice): announce(notice)
        }
    }

    private func announce(_ notice: FeedbackPublication.Notice) {
        log("notice: \(notice)")
        switch notice {
        case .following: isLooking = true
        case .foreignNote: misuse("the note with the offset can't be read")
        case .retries: break
        }
    }

    private func deviceIsTold() {
        if stretch?.isTellingDevice != true { misuse("no device was handed over") }
        stretch?.isTellingDevice = false
        stretch?.devices += 1
    }

    func beginsAnew() {
        if run.hasLostName { misuse("another follower has its name, and it claims that again") }
        (stretch, standing, trouble) = (nil, nil, nil)
        isLooking = false
        asked = []
    }

    func written(_ record: OutgoingRecord) -> (place: Place, record: LogRecord)? {
        log("offers \(record.value.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")")
        let place = Place(
            topic: simulation.cluster.topics.firstIndex(of: record.topic) ?? 0,
            partition: Int(record.key?.last ?? 0) % simulation.cluster.partitions)
        return (
            place,
            LogRecord(key: record.key, value: record.value, headers: record.headers, timestamp: now.wall.milliseconds)
        )
    }

    private func ask() {
        run.question += 1
        if chance[.jobQuestion].happens(simulation.scenario.lostMessages) {
            simulation.schedule(
                .news(process, .job(.standing(question: run.question, nil))), after: Self.questionTimeout)
        } else {
            simulation.schedule(
                .request(process, .standing(question: run.question)), after: chance[.travel].between(0, 20))
        }
    }

    private func ask(_ ask: FeedbackEngine.Ask) {
        if !asked.insert(ask.token).inserted { misuse("message \(ask.backendID) is asked about twice at a time") }
        if asked.count > engine.inFlightLimit { misuse("\(asked.count) questions at a time") }
        var chance = Chance(seed: self.chance[.hub].bits())
        let wait = chance.pick([1, 30, chance.between(0, 3_000)])
        let answer = simulation.hub.answer(ask.backendID, now: simulation.now, chance: &chance)
        simulation.schedule(.news(process, .job(.answer(token: ask.token, answer))), after: wait)
    }

    // MARK: What the machine gets

    func deliver(to machine: inout FeedbackMachine) {
        if run.isStopping { machine.stop(now: now) }
        for report in run.takeReports() { machine.receive(report, now: now) }
        begin(&machine)
        run.isBusy = false
        guard stretch != nil else { return }
        let answered = answers
        answers = []
        for (token, answer) in answered {
            asked.remove(token)
            machine.answered(token, answer, now: now)
        }
        if let stretch, !stretch.isTellingDevice, stretch.devices < simulation.hub.goneDevices {
            self.stretch?.isTellingDevice = true
            let value = Array(Simulation.deviceText(stretch.devices).utf8)
            machine.takeDevices([OutgoingRecord(topic: simulation.scenario.topics.feedback, key: nil, value: value)])
        }
        deliverRecords(to: &machine)
        guard simulation.now >= nextPartitions, simulation.cluster.awayUntil <= simulation.now else { return }
        nextPartitions = simulation.now + Self.partitionsInterval
        if let stretch, stretch.positions.count < simulation.cluster.partitions { machine.beginAgain() }
    }

    private func begin(_ machine: inout FeedbackMachine) {
        if let error = trouble {
            trouble = nil
            machine.notStarted(error, now: now)
        }
        guard let committed = standing else { return }
        standing = nil
        log("reads from \(committed.map { $0.offset ?? 0 })")
        stretch = Stretch(positions: committed.map { $0.offset ?? 0 }, devices: simulation.checkers.devicesTold)
        nextPartitions = simulation.now + Self.partitionsInterval
        machine.started(
            committed.map {
                FeedbackPublication.Start(
                    partition: Int32($0.place.partition), committed: $0.offset ?? Offset.none, metadata: $0.metadata,
                    offset: $0.offset ?? 0,
                    identity: PartitionIdentity(
                        cluster: SimulatedCluster.identity, topic: simulation.cluster.topics[$0.place.topic],
                        partition: Int32($0.place.partition)))
            }, now: now)
    }

    private func deliverRecords(to machine: inout FeedbackMachine) {
        if chance[.jobQuestion].happens(simulation.scenario.lostMessages / 300) {
            machine.readingFailed(.timedOut)
        }
        for _ in 0..<Self.recordsPerTurn {
            guard let name = nextRecord(), let record = simulation.cluster.record(name) else {
                return reportEnds(to: &machine)
            }
            let partition = Int32(name.place.partition)
            stretch?.pending = name
            guard machine.mayTake(partition, name.offset) else { return }
            stretch?.pending = nil
            let result = record.value.flatMap { try? NotificationResult(decoding: $0) }
            machine.take(
                result, byteCount: record.value?.count ?? 0, partition: partition, offset: name.offset, now: now)
        }
        run.isBusy = true
        reportEnds(to: &machine)
    }

    private func reportEnds(to machine: inout FeedbackMachine) {
        for (partition, position) in (stretch?.positions ?? []).enumerated() {
            machine.reachedEnd(of: Int32(partition), at: position)
        }
    }

    private func nextRecord() -> RecordName? {
        if let pending = stretch?.pending { return pending }
        guard var positions = stretch?.positions else { return nil }
        defer { stretch?.positions = positions }
        for (partition, place) in simulation.resultPlaces.enumerated() where partition < positions.count {
            if let name = simulation.nextRecord(place, from: &positions[partition]) { return name }
        }
        return nil
    }
}
