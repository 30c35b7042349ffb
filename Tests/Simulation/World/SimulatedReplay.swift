import HeraldBytes
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldTime
import HeraldTools

/// One process that replays dead letters: the machine of a real one, over a simulated reader and producer.
final class SimulatedReplay: SimulatedJob {
    /// All jobs on one state topic write under one name.
    static let transactionalID = Process(.replay, 0).member

    private static let lettersPerTurn = 40
    /// The interval of its looks for letters, results and the operator's orders (milliseconds).
    static let turn: Int64 = 500

    unowned let simulation: Simulation
    private let index: Int
    var driver: JobDriver<SimulatedReplay>?
    var client = TransactionClient()
    var produced: Set<ProductionID> = []
    var run = JobRun()

    // Inputs that the machine has not been given.
    private var state: KnownState??
    private var isWatching = false
    /// The machine has requested letters, and has none yet.
    private var isAsked = false
    private var pause: ReplayPause?

    /// The letters to read, in the order of their partitions.
    private var ranges: [(place: Place, next: Int64, end: Int64)] = []
    /// The next offset of each partition of the results; it does not look for new partitions.
    private var results: [Int64] = []
    /// The offered dead letters, by the marks beside them: two may belong to the same event.
    private var offered: Set<RecordName> = []
    /// The machine was told to publish nothing more.
    private var isHeld = false
    /// It was told that it is paused.
    private var wasPaused = false
    /// The letters to replay, and the checker of their pace; `nil` for a job that only marks.
    private(set) var order: (letters: [RecordName], ramp: RampChecker)?

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
    }

    var process: Process { Process(.replay, index, life: life) }
    var job: String { Self.job(index, life) }
    static func job(_ index: Int, _ life: Int) -> String { "replay-\(index)-\(life)" }

    // MARK: Life and death

    /// Starts an operator's plan.
    ///
    /// - Parameter letters: the letters to replay.
    func start(_ work: LetterPublication.Order, _ context: ReplayContext, letters: [RecordName]) {
        (pause, isHeld, wasPaused, isWatching, isAsked) = (nil, false, false, false, false)
        (state, ranges, offered, order) = (nil, [], [], nil)
        begin { machine(for: work, context, letters) }
    }

    private func machine(
        for work: LetterPublication.Order, _ context: ReplayContext, _ letters: [RecordName]
    ) -> ReplayMachine {
        switch work {
        case .replay(_, _, let options):
            log("is to replay \(letters.count) dead letters: \(options.ramp.text), \(options.stopShare) may fail")
            order = (letters, RampChecker(options))
        case .resolve(let plan, _, _): log("is to mark \(plan.count) dead letters as resolved")
        }
        results = simulation.resultPlaces.map { simulation.cluster[$0].lastStable }
        let choices = Choices(seed: simulation.scenario.seed)
        return ReplayMachine(
            LetterPublication(
                work, context, job: job,
                process: ProcessIdentity(boot: "b", namespace: "n", id: Int32(index), started: "\(life)")),
            writer: BatchWriter.Configuration(
                transactionTimeout: Simulation.transactionTimeout,
                patience: choices.pick([.minutes(1), .seconds(12)], for: "replay.patience")))
    }

    func pause(_ isPaused: Bool) {
        log(isPaused ? "is paused" : "is resumed")
        pause = isPaused ? ReplayPause(by: "operator", since: now.wall) : nil
        go()
    }

    func ended(_ machine: ReplayMachine) {
        log("ends: \(machine.end.map { "\($0)" } ?? "for no reason")")
        end()
        guard let end = machine.end, machine.hasBegun, let (letters, ramp) = order else { return }
        let objection = ramp.ends(
            end, open: machine.progress.open, isStopping: run.isStopping, now: simulation.now)
        if let objection { misuse(objection) }
        if end == .complete { simulation.checkReplayed(letters, by: process) }
    }

    // MARK: Inputs

    var hasNews: Bool { state != nil }

    var isLooking: Bool {
        let name = driver?.machine.phase.name
        return name == .publishing || name == .watching
    }

    func take(_ news: JobNews) -> Bool {
        guard case .state(let question, let known) = news else {
            misuse("that is a follower's")
            return false
        }
        guard question == run.question else { return false }
        run.question += 1
        state = .some(known)
        return true
    }

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
            run.question += 1
            if chance[.jobQuestion].happens(simulation.scenario.lostMessages / 10) {
                simulation.schedule(.news(process, .job(.state(question: run.question, nil))), after: 5_000)
            } else {
                simulation.schedule(
                    .request(process, .state(question: run.question, isWhole: isWhole, ends: nil)),
                    after: chance[.travel].between(0, 20))
            }
        case .watchState: isWatching = true
        case .startLetters(let letters):
            ranges = letters.sorted { $0.key < $1.key }.map { partition, range in
                (Place(topic: simulation.letterTopic, partition: Int(partition)), range.lowerBound, range.upperBound)
            }
        case .gather: isAsked = true
        }
    }

    func written(_ record: OutgoingRecord) -> (place: Place, record: LogRecord)? {
        simulation.logRecord(record, at: now).map { (simulation.place(of: record, $0), $0) }
    }

    /// A replay that is paused or stopped finishes its begun letters, and begins no others.
    func offers(_ records: [OutgoingRecord]) {
        let letters = simulation.replayed(in: records)
        // Lost or refused letters are offered again, together or in parts.
        guard !offered.isSuperset(of: letters) else { return }
        offered.formUnion(letters)
        if isHeld { misuse("it was told to publish nothing more, and publishes \(letters.count) dead letters") }
        for record in records where simulation.scenario.topics.requests.contains(record.topic) {
            let objection = order?.ramp.offers(record.headers, now: simulation.now)
            if let objection { misuse(objection) }
        }
    }

    // MARK: What the machine gets

    func deliver(to machine: inout ReplayMachine) {
        if run.isStopping { machine.stop(now: now) }
        machine.pause(pause)
        if !wasPaused, pause != nil { order?.ramp.pauses(now: simulation.now) }
        if wasPaused, pause == nil { order?.ramp.resumes(now: simulation.now) }
        wasPaused = pause != nil
        isHeld = run.isStopping || pause != nil
        for report in run.takeReports() { machine.receive(report, now: now) }
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
        run.isBusy = false
        guard machine.progress.batch > 0 else { return }
        deliverResults(to: &machine)
        deliverLetters(to: &machine)
    }

    private func deliverResults(to machine: inout ReplayMachine) {
        for (partition, place) in simulation.resultPlaces.enumerated() where partition < results.count {
            while let name = simulation.nextRecord(place, from: &results[partition]) {
                let value = simulation.cluster.record(name)?.value ?? []
                guard let result = try? NotificationResult(decoding: value) else { continue }
                machine.receive(result)
                if !machine.isEnding { order?.ramp.hears(result) }
            }
        }
    }

    private func deliverLetters(to machine: inout ReplayMachine) {
        guard isAsked else { return }
        isAsked = false
        for _ in 0..<chance[.letters].between(1, Int64(Self.lettersPerTurn)) {
            guard machine.mayTakeLetter else { return }
            guard let current = ranges.first else {
                run.isBusy = true
                return machine.lettersEnded()
            }
            guard current.next < current.end else {
                ranges.removeFirst()
                continue
            }
            guard let name = simulation.nextRecord(current.place, from: &ranges[0].next) else {
                return machine.lettersPaused()
            }
            guard name.offset < current.end, var entry = simulation.letter(name) else { continue }
            machine.take(&entry, now: now)
        }
        machine.lettersPaused()
    }
}

extension ReplayMachine {
    /// Its end is decided: later inputs do not change it.
    fileprivate var isEnding: Bool { if case .end? = writing { true } else { isOver } }
}
