import HeraldCore
import HeraldEvents
import HeraldTime

/// One worker process: an engine, and what carries its actions out against the simulated world.
final class SimulatedWorker {
    unowned let simulation: Simulation
    let index: Int
    private(set) var incarnation = 0
    private(set) var isRunning = false
    private let configuration: EngineConfiguration
    var engine: Engine
    private var generation = 0
    /// How far each assigned partition was fetched.
    private var fetched: [Place: Int64] = [:]
    private var places: [Place] = []
    private var isPaused: Set<Place> = []
    private var aside: (source: Int, place: Place)?
    var records: [Int32: (place: Place, offset: Int64)] = [:]
    private var scheduledWake: Int64 = .max
    /// Nothing reaches it before this moment.
    private(set) var frozenUntil: Int64?
    /// Its session has ended, and it does not know it yet.
    private var isZombie = false
    /// It was told to stop or to give its partitions back.
    var isStopping = false
    /// What the broker has may be less than what was to be committed.
    private var commitIsDoubtful = false
    /// How far its wall clock is off.
    private let skew: Int64
    /// The record that is being called for each user, or each partition, by the order that is kept.
    var active: [String: String] = [:]
    /// Records on their way to the broker.
    var produced: Set<ProductionID> = []
    /// Calls that count as an attempt.
    var counted: Set<CallToken> = []

    /// A member that says nothing for so long is out of the group (milliseconds).
    static let session: Int64 = 10_000

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
        configuration = simulation.scenario.engineConfiguration
        engine = Engine(configuration: configuration)
        let skew = simulation.scenario.skew
        self.skew = skew == 0 ? 0 : simulation.between(-skew, skew)
    }

    var moment: Moment {
        Moment(
            monotonic: simulation.moment.monotonic,
            wall: simulation.moment.wall.advanced(byMilliseconds: skew))
    }

    private var member: Int { simulation.memberID(index, incarnation) }

    // MARK: Life and death

    func start() {
        incarnation += 1
        isRunning = true
        engine = Engine(configuration: configuration)
        records = [:]
        scheduledWake = .max
        isZombie = false
        forgetAssignment()
        simulation.rebalance(telling: simulation.cluster.join(member))
    }

    /// SIGKILL: everything in memory is gone; the session ends later; the process is started again.
    func crash() {
        hitInMemory()
        isRunning = false
        simulation.schedule(.sessionEnds(worker: index, incarnation: incarnation), after: Self.session)
        simulation.schedule(.start(worker: index), after: simulation.between(100, 20_000))
    }

    /// SIGSTOP, and SIGCONT later; perhaps longer than its session.
    func freeze() {
        let duration = simulation.between(100, 30_000)
        frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(worker: index, incarnation: incarnation), after: duration)
        guard duration > Self.session else { return }
        isZombie = true
        hitInMemory()
        simulation.schedule(.sessionEnds(worker: index, incarnation: incarnation), after: Self.session)
    }

    func thaw() {
        frozenUntil = nil
        if isZombie {
            simulation.schedule(.lost(worker: index, incarnation: incarnation), after: simulation.between(0, 1_500))
        }
        recordsArrived()
    }

    /// The group went on without it.
    func lost() {
        guard isZombie else { return }
        hitInMemory()
        engine.lost(now: moment)
        go()
    }

    func rejoin() {
        isZombie = false
        simulation.rebalance(telling: simulation.cluster.join(member))
    }

    /// SIGTERM.
    func drain() {
        isStopping = true
        engine.drain(now: moment)
        go()
    }

    private func leave() {
        isRunning = false
        simulation.rebalance(telling: simulation.cluster.remove(member))
        simulation.schedule(.start(worker: index), after: simulation.between(100, 5_000))
    }

    /// What was taken and lies above the committed offset may be called and recorded again by somebody else.
    private func hitInMemory() {
        for place in places {
            let committed = simulation.cluster.committed[place] ?? 0
            for offset in committed..<max(committed, fetched[place] ?? 0) {
                for duty in duties(of: (place, offset)) { simulation.checkers.faultHit(duty) }
            }
        }
    }

    func duties(of position: (place: Place, offset: Int64)) -> [Duty] {
        simulation.checkers.duties(of: "\(position.place.topic)/\(position.place.partition)/\(position.offset)")
    }

    // MARK: Inputs

    func tick() {
        scheduledWake = .max
        engine.tick(now: moment)
        go()
    }

    func answer(_ token: CallToken, _ result: CallResult) {
        noteAnswer(token, result)
        engine.answer(token, result, now: moment, entropy: simulation.random.next())
        go()
    }

    func acknowledged(_ id: ProductionID, _ failure: ProductionFailure?) {
        if produced.remove(id) == nil, engine.production(id) != nil {
            simulation.checkers.fail("an acknowledgement of an earlier record is taken for another")
        }
        if let failure {
            engine.failed(id, failure, now: moment)
        } else {
            engine.delivered(id, now: moment)
        }
        go()
    }

    /// A commit did not reach the broker, or its reply comes late: what it stands for may be done again by others.
    func commitFailed(_ incarnation: Int) {
        if incarnation == self.incarnation { commitIsDoubtful = true }
    }

    func committed(_ sequence: UInt64, _ outcome: CommitOutcome) {
        if outcome == .acknowledged { commitIsDoubtful = false }
        engine.committed(sequence: sequence, outcome, now: moment)
        go()
    }

    func revoked() {
        guard !isZombie else { return }
        isStopping = true
        engine.revoked(now: moment)
        go()
    }

    func assigned(_ places: [Place], generation: Int) {
        self.generation = generation
        self.places = places
        let topics = simulation.scenario.consumedTopics
        engine.assigned(
            places.map { place in
                let offset = simulation.cluster.committed[place] ?? 0
                fetched[place] = offset
                return AssignedPartition(
                    topic: topics.firstIndex { $0.name == place.topic } ?? 0, number: place.partition,
                    startOffset: simulation.cluster.committed[place],
                    metadata: simulation.cluster.metadata[place] ?? "")
            }, topics: topics, now: moment)
        go()
    }

    func recordsArrived() {
        guard isRunning, frozenUntil == nil else { return }
        engine.recordsArrived()
        go()
    }

    private func forgetAssignment() {
        fetched = [:]
        places = []
        isPaused = []
        aside = nil
        isStopping = false
        commitIsDoubtful = false
        active = [:]
        counted = []
        produced = []
    }

    // MARK: Carrying out

    private func go() {
        carryOut()
        while isRunning, takeOne() { carryOut() }
        guard isRunning else { return }
        if engine.load.events > configuration.maxBuffered {
            simulation.checkers.fail("promise 6: \(engine.load.events) events are in memory")
        }
        guard let wake = engine.nextWake else { return }
        let at = simulation.start + (wake.nanoseconds + 999_999) / 1_000_000
        if at < scheduledWake {
            scheduledWake = max(at, simulation.now)
            simulation.schedule(.tick(worker: index, incarnation: incarnation), after: at - simulation.now)
        }
    }

    private func takeOne() -> Bool {
        guard let source = aside?.source ?? engine.nextSource() else { return false }
        for place in places {
            while simulation.cluster.record(at: place, fetched[place] ?? 0)?.isMarker == true {
                fetched[place, default: 0] += 1
            }
        }
        let candidates = engine.sourceList[source].partitions.map { places[Int($0)] }.filter { place in
            !isPaused.contains(place)
                && simulation.cluster.record(at: place, fetched[place] ?? 0) != nil
        }
        guard !candidates.isEmpty else {
            engine.exhausted(source: source)
            return true
        }
        let place = aside?.place ?? candidates[Int(simulation.random.next() % UInt64(candidates.count))]
        let offset = fetched[place] ?? 0
        guard let record = simulation.cluster.record(at: place, offset) else { return false }
        switch offer(record, source: source, place: place, offset: offset) {
        case .noRoom:
            aside = (source, place)
            return false
        case .kept(let id):
            if records[id.index] != nil { simulation.checkers.fail("slot \(id.index) still has a record") }
            if isZombie { for duty in duties(of: (place, offset)) { simulation.checkers.faultHit(duty) } }
            records[id.index] = (place, offset)
            fetched[place] = offset + 1
        case .done:
            fetched[place] = offset + 1
        }
        aside = nil
        return true
    }

    private func offer(_ record: LogRecord, source: Int, place: Place, offset: Int64) -> Intake {
        let timestamp = WallTime(milliseconds: record.timestamp)
        guard let value = record.value else {
            return engine.record(
                source: source, partition: place.partition, offset: offset, timestamp: timestamp, value: nil,
                headers: record.headers, now: moment)
        }
        return engine.record(
            source: source, partition: place.partition, offset: offset, timestamp: timestamp,
            value: value.span.bytes, headers: record.headers, now: moment)
    }

    private func carryOut() {
        var next = 0
        while next < engine.actions.count, isRunning {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token)
            case .produce(let id): produce(id)
            case .release(let slot): release(slot)
            case .keep(let slot): keep(slot)
            case .commit(let sequence):
                let positions = engine.commitPositions.map {
                    Position(place: places[Int($0.partition)], offset: $0.offset, metadata: $0.metadata)
                }
                simulation.schedule(
                    .commit(
                        worker: index, incarnation: incarnation, sequence: sequence, generation: generation, positions),
                    after: simulation.between(0, 20))
            case .begin, .abort, .renewProducer, .lookUp:
                simulation.checkers.fail("at-least-once knows no transactions")
            case .rewind(let partition):
                fetched[places[Int(partition)]] = engine.nextOffset(of: partition)
                engine.recordsArrived()
            case .pause(let partition): isPaused.insert(places[Int(partition)])
            case .resume(let partition):
                isPaused.remove(places[Int(partition)])
                engine.recordsArrived()
            case .unassign:
                if commitIsDoubtful { hitInMemory() }
                engine.unassigned(now: moment)
                if !records.isEmpty { simulation.checkers.fail("\(records.count) records outlive their assignment") }
                forgetAssignment()
                simulation.schedule(
                    .unassigned(worker: index, incarnation: incarnation), after: simulation.between(0, 5))
            case .leave:
                if commitIsDoubtful { hitInMemory() }
                if !records.isEmpty { simulation.checkers.fail("\(records.count) records outlive the drain") }
                leave()
            case .notice(.gaveUp):
                hitInMemory()
            case .notice:
                break
            }
        }
        engine.clearActions()
    }
}
