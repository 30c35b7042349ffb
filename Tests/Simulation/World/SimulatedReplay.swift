import HeraldBytes
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldTime
import HeraldTools

/// One process that replays dead letters: the machine of a real one, over a simulated reader and producer.
final class SimulatedReplay: TransactionalProcess, JobIO {
    /// All jobs on one state topic write under one name.
    static let transactionalID = Process(worker: Process.firstReplay, life: 0).member

    private static let lettersPerTurn = 40
    /// It looks for letters, results and the operator's wishes so often (milliseconds).
    private static let turn: Int64 = 500

    unowned let simulation: Simulation
    private let index: Int
    private(set) var life = 0
    private(set) var isRunning = false
    private(set) var frozenUntil: Int64?
    private var driver: JobDriver<SimulatedReplay>?
    var client = TransactionClient()
    var produced: Set<ProductionID> = []
    private var lastProduction: Int32 = 0
    /// Claims of former producers that never had the name: each may still arrive.
    private var formerClaims = 0
    /// How it ended last; `nil` when it was killed.
    private(set) var lastEnd: ReplayMachine.End?

    // What has arrived, and was not given to the machine.
    private var reports: [BatchWriter.Report] = []
    private var state: KnownState??
    private var question = 0
    private var isWatching = false
    private var isGathering = false
    private var isPaused = false
    private var isStopping = false
    private var isBusy = false
    private var nextTick: (at: Int64, number: Int) = (.max, 0)

    /// The letters that are read, in the order of their partitions.
    private var ranges: [(place: Place, next: Int64, end: Int64)] = []
    /// How far each partition of the results was read: new ones are not looked for.
    private var results: [Int64] = []
    /// The events that were offered, as often as they were.
    private var offered: Set<[UInt8]> = []
    /// The machine was told to publish nothing more.
    private var isHeld = false

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
    }

    var process: Process { Process(worker: Process.firstReplay + index, life: life) }
    var now: Moment { simulation.moment }
    var job: String { Self.job(index, life) }
    static func job(_ index: Int, _ life: Int) -> String { "replay-\(index)-\(life)" }

    // MARK: Life and death

    /// An operator has made a plan, and starts it.
    func start(_ work: ReplayMachine.Work, _ context: ReplayContext) {
        life += 1
        log("starts to work on dead letters")
        isRunning = true
        (isPaused, isStopping, isHeld, isWatching, isGathering) = (false, false, false, false, false)
        frozenUntil = nil
        client = TransactionClient()
        formerClaims = 0
        (reports, state, ranges, offered, lastEnd) = ([], nil, [], [], nil)
        nextTick.at = .max
        results = simulation.resultPlaces.map { simulation.cluster[$0].lastStable }
        let choices = Choices(seed: simulation.scenario.seed)
        driver = JobDriver(
            ReplayMachine(
                ReplayMachine.Configuration(
                    context: context, work: work, job: job,
                    process: ProcessIdentity(boot: "b", namespace: "n", id: Int32(index), started: "\(life)"),
                    writer: BatchWriter.Configuration(
                        transactionTimeout: Simulation.transactionTimeoutMilliseconds,
                        patience: choices.pick([60_000, 12_000], for: "replay.patience")))), io: self)
        go()
    }

    /// The run is over.
    func letGo() { driver = nil }

    /// SIGKILL.
    func kill() {
        log("is killed")
        end()
    }

    func stop() {
        log("is told to stop")
        isStopping = true
        go()
    }

    func pause(_ isPaused: Bool) {
        log(isPaused ? "is paused" : "is resumed")
        self.isPaused = isPaused
        go()
    }

    /// SIGSTOP, and SIGCONT later.
    func freeze() {
        let duration = chance[.jobFault].between(100, 30_000)
        log("is frozen for \(duration) ms")
        frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(process, after: duration), after: duration)
    }

    func thaw(after duration: Int64) {
        log("goes on")
        frozenUntil = nil
        go()
    }

    private func end() {
        isRunning = false
        driver = nil
    }

    // MARK: What it hears

    func hear(_ news: News) {
        simulation.inputs += 1
        switch news {
        case .job(.tick(let number)):
            guard number == nextTick.number else { return }
            nextTick.at = .max
        case .job(.state(let question, let known)):
            guard question == self.question else { return }
            self.question += 1
            state = .some(known)
        case .job: misuse("that is a follower's")
        default: hearProducer(news)
        }
        go()
    }

    func transactionBegins() {}

    func take(_ report: TransactionReport) {
        if case .ready(let late) = report {
            reports.append(.transaction(.ready(lateClaims: late + formerClaims)))
            formerClaims = 0
        } else {
            reports.append(.transaction(report))
        }
    }

    func acknowledge(_ id: ProductionID, _ error: KafkaError?) {
        produced.remove(id)
        if let error { reports.append(.undelivered(error)) }
    }

    /// It shows in the next transactional call.
    func noteFence() {}

    private func go() {
        guard frozenUntil == nil else { return }
        repeat {
            guard isRunning, let driver else { return }
            driver.turn()
            guard isRunning else { return }
            if driver.machine.isOver {
                lastEnd = driver.machine.end
                log("ends: \(lastEnd.map { "\($0)" } ?? "for no reason")")
                return end()
            }
        } while isBusy || !reports.isEmpty || state != nil
        scheduleTick()
    }

    private func scheduleTick() {
        guard let driver else { return }
        let name = driver.machine.phase.name
        var at = name == .working || name == .watching ? simulation.now + Self.turn : .max
        if let wake = driver.machine.nextWake {
            at = min(at, Simulation.start + (max(0, wake.nanoseconds) + 999_999) / 1_000_000)
        }
        guard at < nextTick.at else { return }
        nextTick = (max(at, simulation.now), nextTick.number + 1)
        simulation.schedule(.news(process, .job(.tick(nextTick.number))), after: at - simulation.now)
    }

    /// What drives a simulated process is the agenda.
    func wait(until moment: MonotonicTime?) {}

    // MARK: What the machine wants

    func perform(_ action: ReplayMachine.Action) {
        guard isRunning else { return }
        // Between any two actions.
        if chance[.jobKill].happens(simulation.replayWorld.isFinishing ? 0 : simulation.scenario.replayKills) {
            return kill()
        }
        switch action {
        case .write(let action): perform(action)
        case .readState(let isWhole):
            isWatching = false
            question += 1
            if chance[.jobQuestion].happens(simulation.scenario.lostMessages / 10) {
                simulation.schedule(.news(process, .job(.state(question: question, nil))), after: 5_000)
            } else {
                simulation.schedule(
                    .request(process, .state(question: question, isWhole: isWhole, ends: nil)),
                    after: chance[.travel].between(0, 20))
            }
        case .watchState: isWatching = true
        case .startLetters(let letters):
            ranges = letters.sorted { $0.key < $1.key }.map { partition, range in
                (Place(topic: simulation.letterTopic, partition: Int(partition)), range.lowerBound, range.upperBound)
            }
        case .gather: isGathering = true
        }
    }

    private func perform(_ action: BatchWriter.Action) {
        switch action {
        case .claim:
            question += 1
            produced = []
            if client.epoch == nil { formerClaims += client.claims.unansweredCount }
            renewProducer()
        case .produce(let records): produce(records)
        case .commit(let sequence, let positions): commitTransaction(sequence, positions, by: nil)
        case .abort: abortTransaction()
        }
    }

    private func produce(_ records: [OutgoingRecord]) {
        do throws(KafkaError) { try beginTransaction() } catch { return reports.append(.notProduced(error)) }
        for record in records {
            guard let written = simulation.logRecord(record, at: now) else {
                return misuse("a record for \(record.topic) can't be read")
            }
            if simulation.scenario.topics.requests.contains(record.topic) { noteOffered(written) }
            if chance[.fullQueue].happens(simulation.scenario.fullQueues) {
                log("a record is refused")
                return reports.append(.notProduced(KafkaError(code: KafkaError.Code.queueFull)))
            }
            lastProduction += 1
            let id = ProductionID(index: lastProduction, generation: 0)
            produced.insert(id)
            write(id, simulation.place(of: record, written), written, nil)
        }
        reports.append(.produced)
    }

    /// A replay that is paused or stopped goes on with what it had begun, and with nothing else.
    private func noteOffered(_ record: LogRecord) {
        let identity = simulation.identity(ofReplay: record)
        if offered.insert(identity).inserted, isHeld {
            misuse("it was told to publish nothing more, and publishes \(String(decoding: identity, as: UTF8.self))")
        }
    }

    // MARK: What it gives the machine

    func deliver(to machine: inout ReplayMachine) {
        if isStopping { machine.stop() }
        machine.pause(isPaused)
        isHeld = isStopping || isPaused
        let arrived = reports
        reports = []
        for report in arrived { machine.receive(report, now: now) }
        if isWatching, state == nil { state = .some(simulation.knownState()) }
        if let read = state {
            state = nil
            if let known = read {
                machine.stateRead(known, holder: simulation.life(of: known.lease), now: now)
            } else {
                machine.stateNotRead(ToolFailure("the state topic can't be read"), now: now)
            }
        }
        if machine.phase.name != .watching { isWatching = false }
        isBusy = false
        guard machine.progress.batch > 0 else { return }
        deliverResults(to: &machine)
        deliverLetters(to: &machine)
    }

    private func deliverResults(to machine: inout ReplayMachine) {
        guard simulation.cluster.awayUntil <= simulation.now else { return }
        for (partition, place) in simulation.resultPlaces.enumerated()
        where partition < results.count && simulation.cluster[place].leaderlessUntil <= simulation.now {
            while simulation.cluster.seek(place, from: &results[partition]) {
                let value = simulation.cluster[place].records[Int(results[partition])].value ?? []
                if let result = try? NotificationResult(decoding: value) { machine.receive(result) }
                results[partition] += 1
            }
        }
    }

    private func deliverLetters(to machine: inout ReplayMachine) {
        guard isGathering else { return }
        for _ in 0..<chance[.letters].between(1, Int64(Self.lettersPerTurn)) {
            isGathering = machine.mayTakeLetter
            guard isGathering else { return }
            guard let current = ranges.first else {
                isBusy = true
                return machine.lettersEnded()
            }
            guard simulation.cluster.awayUntil <= simulation.now,
                simulation.cluster[current.place].leaderlessUntil <= simulation.now
            else { return machine.lettersPaused() }
            guard simulation.cluster.seek(current.place, from: &ranges[0].next), ranges[0].next < current.end else {
                ranges.removeFirst()
                continue
            }
            let name = RecordName(place: current.place, offset: ranges[0].next)
            ranges[0].next += 1
            guard var entry = simulation.letter(name) else { continue }
            machine.take(&entry, now: now)
        }
        machine.lettersPaused()
    }
}
