import HeraldCore
import HeraldEvents
import HeraldTime

/// One worker process: an engine, and what carries its actions out against the simulated world.
final class SimulatedWorker {
    private unowned let simulation: Simulation
    private let index: Int
    private(set) var incarnation = 0
    private(set) var isRunning = false
    private let configuration: EngineConfiguration
    private var engine: Engine
    private var generation = 0
    /// How far each assigned partition was fetched.
    private var fetched: [Place: Int64] = [:]
    private var places: [Place] = []
    private var isPaused: Set<Place> = []
    private var aside: (source: Int, place: Place)?
    private var records: [Int32: (place: Place, offset: Int64)] = [:]
    private var scheduledWake: Int64 = .max

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
        configuration = simulation.scenario.engineConfiguration
        engine = Engine(configuration: configuration)
    }

    private var member: Int { simulation.memberID(index, incarnation) }

    // MARK: Life and death

    func start() {
        incarnation += 1
        isRunning = true
        engine = Engine(configuration: configuration)
        records = [:]
        aside = nil
        scheduledWake = .max
        forgetAssignment()
        simulation.rebalance(telling: simulation.cluster.join(member))
    }

    /// SIGKILL: everything in memory is gone; the session ends later; the process is started again.
    func crash() {
        hitInMemory()
        isRunning = false
        simulation.schedule(.sessionEnds(worker: index, incarnation: incarnation), after: 10_000)
        simulation.schedule(.start(worker: index), after: simulation.between(100, 20_000))
    }

    /// SIGTERM.
    func drain() {
        engine.drain(now: simulation.moment)
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

    private func duties(of position: (place: Place, offset: Int64)) -> [Duty] {
        simulation.checkers.duties(of: "\(position.place.topic)/\(position.place.partition)/\(position.offset)")
    }

    // MARK: Inputs

    func tick() {
        scheduledWake = .max
        engine.tick(now: simulation.moment)
        go()
    }

    func answer(_ token: CallToken, _ result: CallResult) {
        engine.answer(token, result, now: simulation.moment, entropy: simulation.random.next())
        go()
    }

    func acknowledged(_ id: ProductionID, _ failure: ProductionFailure?) {
        if let failure {
            engine.failed(id, failure, now: simulation.moment)
        } else {
            engine.delivered(id, now: simulation.moment)
        }
        go()
    }

    func committed(_ sequence: UInt64, _ outcome: CommitOutcome) {
        engine.committed(sequence: sequence, outcome, now: simulation.moment)
        go()
    }

    func revoked() {
        engine.revoked(now: simulation.moment)
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
            }, topics: topics, now: simulation.moment)
        go()
    }

    func recordsArrived() {
        engine.recordsArrived()
        go()
    }

    private func forgetAssignment() {
        fetched = [:]
        places = []
        isPaused = []
        aside = nil
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
                headers: record.headers, now: simulation.moment)
        }
        return engine.record(
            source: source, partition: place.partition, offset: offset, timestamp: timestamp,
            value: value.span.bytes, headers: record.headers, now: simulation.moment)
    }

    private func carryOut() {
        var next = 0
        while next < engine.actions.count, isRunning {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token)
            case .produce(let id): produce(id)
            case .release(let slot): records[slot] = nil
            case .commit(let sequence):
                let positions = engine.commitPositions.map {
                    Position(place: places[Int($0.partition)], offset: $0.offset, metadata: $0.metadata)
                }
                simulation.schedule(
                    .commit(
                        worker: index, incarnation: incarnation, sequence: sequence, generation: generation, positions),
                    after: simulation.between(0, 20))
            case .pause(let partition): isPaused.insert(places[Int(partition)])
            case .resume(let partition):
                isPaused.remove(places[Int(partition)])
                engine.recordsArrived()
            case .unassign:
                engine.unassigned()
                forgetAssignment()
                simulation.schedule(
                    .unassigned(worker: index, incarnation: incarnation), after: simulation.between(0, 5))
            case .leave:
                leave()
            case .notice(.gaveUp):
                hitInMemory()
            case .notice:
                break
            }
        }
        engine.clearActions()
    }

    private func call(_ token: CallToken) {
        guard let position = records[token.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else {
            simulation.checkers.fail("a call for a slot without a record")
            return
        }
        let slot = engine.slot(token.slot.index)
        let user = text(slot.event.bytes(of: slot.event.user, value: value.span.bytes))
        let service = simulation.scenario.pushServices.names[Int(token.service)]
        let now = WallTime(milliseconds: simulation.now)
        if let expiresAt = slot.event.expiresAt, now >= expiresAt {
            simulation.checkers.fail("\(position) was called after its expiry")
        }
        if let notBefore = slot.event.notBefore, now < notBefore {
            simulation.checkers.fail("\(position) was called before its moment")
        }
        if slot.isRetry {
            if let due = slot.event.dueAt, now < due { simulation.checkers.fail("\(position): a retry was early") }
        } else if simulation.scenario.ordering == .key {
            simulation.checkers.firstCall(user: user, place: position.place, offset: position.offset)
        }
        let (result, after) = simulation.backend.answer(user: user, random: &simulation.random)
        let uncounted =
            result.status == 401 || result.status == 403 || result.failure == CallFailure.nameNotFound
            || engine.hold != nil
        for duty in duties(of: position) where duty.service == service {
            simulation.checkers.called(duty, countsAsAttempt: !uncounted)
        }
        simulation.schedule(.answer(worker: index, incarnation: incarnation, token, result), after: after)
    }

    private func produce(_ id: ProductionID) {
        guard let production = engine.production(id), let position = records[production.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else { return }
        if simulation.chance(simulation.scenario.produceFailures) {
            let failure: ProductionFailure = simulation.chance(500) ? .queueFull : .other
            simulation.schedule(
                .acknowledge(worker: index, incarnation: incarnation, id, failure), after: simulation.between(0, 30))
            return
        }
        if production.kind == .retry {
            simulation.checkers.movedToRetry("\(position.place.topic)/\(position.place.partition)/\(position.offset)")
        }
        var output = OutputRecord()
        engine.write(production, value: value.span.bytes, headers: record.headers, into: &output)
        let partition = Int32(truncatingIfNeeded: (record.key ?? []).reduce(0) { $0 &* 31 &+ Int($1) })
        let written = LogRecord(
            key: record.key, value: production.kind == .result ? output.value : value, headers: output.headers,
            timestamp: simulation.now)
        let place = Place(
            topic: engine.topic(of: production),
            partition: Int32(UInt32(bitPattern: partition) % UInt32(simulation.scenario.partitions)))
        simulation.schedule(
            .append(
                worker: index, incarnation: incarnation, id, place, written, lost: false),
            after: simulation.between(0, 20))
    }

    private func text(_ bytes: RawSpan) -> String {
        String(
            decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }
}
