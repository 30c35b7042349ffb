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
    /// Nothing reaches it before this moment.
    private(set) var frozenUntil: Int64?
    /// Its session has ended, and it does not know it yet.
    private var isZombie = false
    /// It was told to stop or to give its partitions back.
    private var isStopping = false
    /// What the broker has may be less than what was to be committed.
    private var commitIsDoubtful = false
    /// How far its wall clock is off.
    private let skew: Int64
    /// The record that is being called for each user, or each partition, by the order that is kept.
    private var active: [String: String] = [:]
    /// Records on their way to the broker.
    private var produced: Set<ProductionID> = []
    /// Calls that count as an attempt.
    private var counted: Set<CallToken> = []

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

    private var moment: Moment {
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
        engine.lost()
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

    private func duties(of position: (place: Place, offset: Int64)) -> [Duty] {
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

    private func noteAnswer(_ token: CallToken, _ result: CallResult) {
        let isCounted = counted.remove(token) != nil
        guard engine.slot(token.slot.index).generation == token.slot.generation,
            let position = records[token.slot.index]
        else { return }
        let service = simulation.scenario.pushServices.names[Int(token.service)]
        for duty in duties(of: position) where duty.service == service {
            switch (result.status, result.failure) {
            case (200, _), (400, _): simulation.checkers.answeredForGood(duty)
            case (401, _), (403, _), (_, .nameNotFound?): break
            case (503, _) where !isCounted, (429, _) where !isCounted: simulation.checkers.probeCounted(duty)
            case _ where isCounted:
                simulation.checkers.failedForNow(duty, retryAfter: result.retryAfter, now: simulation.now)
            default: break
            }
        }
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
                if commitIsDoubtful { hitInMemory() }
                engine.unassigned()
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

    private func release(_ slot: Int32) {
        guard let position = records.removeValue(forKey: slot) else {
            simulation.checkers.fail("slot \(slot) was released twice")
            return
        }
        settled(position)
    }

    /// The event behind this one may be called.
    private func settled(_ position: (place: Place, offset: Int64)) {
        let name = self.name(position)
        if let line = active.first(where: { $0.value == name })?.key { active[line] = nil }
    }

    private func name(_ position: (place: Place, offset: Int64)) -> String {
        "\(position.place.topic)/\(position.place.partition)/\(position.offset)"
    }

    /// Promise 4: while an event is not settled, none of the same user (or partition) is called.
    private func checkOrder(_ user: String, _ position: (place: Place, offset: Int64), isRetry: Bool) {
        let line: String
        switch simulation.scenario.ordering {
        case .key: line = user
        case .partition: line = "\(position.place.topic)/\(position.place.partition)"
        case .none: return
        }
        let name = self.name(position)
        if let other = active.updateValue(name, forKey: line), other != name {
            simulation.checkers.fail("promise 4: \(name) was called before \(other) of \(line) was settled")
        }
        if !isRetry { simulation.checkers.firstCall(user: user, place: position.place, offset: position.offset) }
    }

    private func call(_ token: CallToken) {
        if isStopping { simulation.checkers.fail("a call after the stop began") }
        guard let position = records[token.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else {
            simulation.checkers.fail("a call for a slot without a record")
            return
        }
        let slot = engine.slot(token.slot.index)
        let user = text(slot.event.bytes(of: slot.event.user, value: value.span.bytes))
        let service = simulation.scenario.pushServices.names[Int(token.service)]
        let now = moment.wall
        if let expiresAt = slot.event.expiresAt, now >= expiresAt {
            simulation.checkers.fail("\(position) was called after its expiry")
        }
        if let notBefore = slot.event.notBefore, now < notBefore {
            simulation.checkers.fail("\(position) was called before its moment")
        }
        if slot.isRetry {
            if let due = slot.event.dueAt, now < due { simulation.checkers.fail("\(position): a retry was early") }
        }
        checkOrder(user, position, isRetry: slot.isRetry)
        let (result, after) = simulation.backend.answer(user: user, random: &simulation.random)
        let uncounted =
            result.status == 401 || result.status == 403 || result.failure == CallFailure.nameNotFound
            || engine.hold != nil
        for duty in duties(of: position) where duty.service == service {
            simulation.checkers.called(duty, countsAsAttempt: !uncounted, now: simulation.now)
            simulation.checkers.backendAnswered(duty, status: result.status, now: simulation.now)
        }
        if !uncounted { counted.insert(token) }
        simulation.schedule(.answer(worker: index, incarnation: incarnation, token, result), after: after)
    }

    private func produce(_ id: ProductionID) {
        // Given up meanwhile, if there is none.
        guard let production = engine.production(id) else { return }
        guard let position = records[production.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else {
            simulation.checkers.fail("a record is to be produced for a slot without one")
            return
        }
        produced.insert(id)
        settled(position)
        if production.kind == .retry { simulation.checkers.movedToRetry(name(position)) }
        if simulation.chance(simulation.scenario.produceFailures) {
            let failures: [ProductionFailure] = [.queueFull, .other, .tooLarge, .tooLarge]
            let failure = failures[Int(simulation.between(0, 3))]
            simulation.schedule(
                .acknowledge(
                    worker: index, incarnation: incarnation, id, failure),
                after: simulation.between(0, 30))
            return
        }
        var failure: ProductionFailure?
        if simulation.chance(simulation.scenario.acknowledgementFailures) {
            // The broker has it and the worker does not know: with at-least-once it is written again.
            failure = .other
            for duty in duties(of: position) { simulation.checkers.faultHit(duty) }
        }
        var output = OutputRecord()
        engine.write(production, value: value.span.bytes, headers: record.headers, into: &output)
        let partition = Int32(truncatingIfNeeded: (record.key ?? []).reduce(0) { $0 &* 31 &+ Int($1) })
        let written = LogRecord(
            key: record.key, value: production.kind == .result ? output.value : value, headers: output.headers,
            timestamp: moment.wall.milliseconds)
        let place = Place(
            topic: engine.topic(of: production),
            partition: Int32(UInt32(bitPattern: partition) % UInt32(simulation.cluster.partitions)))
        simulation.schedule(
            .append(worker: index, incarnation: incarnation, id, place, written, failure),
            after: simulation.between(0, 20))
    }

    private func text(_ bytes: RawSpan) -> String {
        String(
            decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }
}
