import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime
import HeraldWorker

/// One worker process: the lane of a real one, over a simulated group, producer and backend.
///
/// | file | part |
/// |---|---|
/// | `SimulatedWorker+Inputs.swift` | its inputs, and its lane's turns |
/// | `SimulatedWorker+IO.swift` | what its lane drives: the group and the records |
/// | `SimulatedWorker+Calls.swift` | calls of the backend |
/// | `SimulatedWorker+Producing.swift` | records that it writes |
/// | `TransactionalProcess.swift` | its transactional producer, as any process has one |
final class SimulatedWorker {
    unowned let simulation: Simulation
    let index: Int
    private(set) var life = 0
    private(set) var isRunning = false
    /// Its latest settings, which its next life begins with.
    private(set) var configuration: EngineConfiguration
    /// The statuses by which its port judges answers, as its lane has set them.
    var statuses = StatusTable.usual
    /// The limit of events in this life.
    private(set) var maxBuffered = 0
    /// The lane of this life; it knows its worker, and has to be released in the end.
    private var runningLane: Lane<SimulatedWorker>?
    var inbox = Inbox()
    /// Its follower of campaigns.
    private(set) var controls: SimulatedControls?
    /// Its follower of users' words and recalls, if it follows them.
    var words: SimulatedWords?
    /// What its lane has asked for, until it is read.
    var capReading: CapReading?
    /// Its lane starts when the content of the campaigns topic is known.
    var hasLaneStarted: Bool { runningLane != nil }

    // The assignment.
    var generation = 0
    var places: [Place] = []
    /// Their fetched records.
    var fetched = FetchedQueues(limit: 1)
    /// The lane's number of the assignment whose offsets it asked for last.
    var askedFor = 0
    /// The committed offsets that it was told at the assignment.
    var told: [Committed] = []
    /// The offsets from which it began to take records.
    var begunAt: [Int64] = []

    /// The number of records in the engine's slots.
    var retainedRecords = 0
    /// The lane's last turn, and the time for which it has stood still since.
    var lastTurn: Int64 = 0
    var frozenFor: Int64 = 0
    /// It knows that another process writes under its name.
    var hasRival = false
    /// The next tick, with its number, because an earlier one may have replaced it.
    var nextTick: (at: Int64, number: Int) = (.max, 0)
    /// It gets no inputs before this moment.
    private(set) var frozenUntil: Int64?
    /// It has joined its group.
    var isMember = false
    /// The number of joins in this life.
    private(set) var joins = 0
    /// It was given partitions, or none, and has not given them back.
    var isAssigned = false
    /// It has given them back, and the group has not heard of it.
    var isGivingBack = false
    /// Its session has ended, and it does not know it yet.
    private(set) var isZombie = false
    /// It was told to stop or to give its partitions back.
    var isStopping = false
    /// In that case: before this moment nothing may be given up.
    var stopDeadline: Int64 = 0
    /// The latest commit was not acknowledged.
    var commitIsDoubtful = false
    /// The deviation of its wall clock.
    private(set) var skew: Int64 = 0

    // For the checkers.
    /// The record called last for each user or partition, by the kept order.
    var active: [OrderLine: RecordName] = [:]
    /// Records with later ones of their line called: their turn is over.
    var passed: Set<RecordName> = []
    /// Calls under way.
    var callsOut: [RecordName: Int] = [:]
    /// Since when events are settled whose calls would be repeated after a kill.
    var unrecordedSince: [SlotID: Int64] = [:]
    /// The positions in the partitions of its earlier assignments.
    var stood: [Place: Int64] = [:]
    /// The same where another program has committed beyond them, until the worker reports it.
    var unnoticed: [Place: Int64] = [:]
    /// Since when it knows that its partitions are lost; a freeze makes it forget.
    var lostSince: Int64?
    /// It stood still for longer than allowed, and has no proof of its membership since.
    private(set) var hasStoodStill = false
    /// Records on their way to the broker.
    var produced: Set<ProductionID> = []
    /// Events with a refused record, and the number of that transaction.
    var apart: [RecordName: Int] = [:]
    /// Events with a record that was known to be too large.
    var unfit: Set<RecordName> = []
    /// Events of which a call was delivered, and since when they wait for a held push service all the same.
    var answered: Set<SlotID> = []
    var heldBeside: [SlotID: Int64] = [:]
    /// Events with a refused retry, which goes to another topic.
    var detoured: Set<RecordName> = []
    /// The number of times that each was refused together with others.
    var refusedTogether: [RecordName: Int] = [:]
    /// Its engine has found that a topic takes nothing; the moment of its last call since then.
    var heldCall: Int64?
    /// The events with records in the open transaction.
    var companions: Set<RecordName> = []
    /// The connections of its calls.
    var connections = SharedConnections(losses: 0)
    /// Calls that count as an attempt.
    var counted: Set<CallToken> = []
    /// The moment of each call.
    var sentAt: [CallToken: Int64] = [:]
    /// The last moment at which its lane heard of other credentials, or of their acceptance.
    var credentialsChangedAt: Int64 = 0
    /// The calls of the last second.
    var limitedCalls: [(at: Int64, service: Int)] = []
    /// Probes under way.
    var probes: Set<CallToken> = []
    /// Dead letters with the same status in a row.
    var rejectedInARow = 0
    var usersInARow: Set<Int> = []
    var lastDelivery: Int64 = .min / 2
    /// Whether the engine may have found a source that is bad by itself.
    var mayHaveExcused = false
    /// For each push service: the number of waiting calls of the first request topic, and of others made meanwhile.
    var passedUrgent: [Int: (waiting: Int, calls: Int)] = [:]
    /// The campaigns' states that it heard.
    var toldCampaigns: [Int: CampaignControl] = [:]

    var client = TransactionClient()

    /// A silent member is out of the group after this time (milliseconds).
    static let session: Int64 = 10_000
    /// The longest time of a drain with absent brokers (milliseconds).
    static let patience: Int64 = 120_000

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
        configuration = simulation.scenario.engineConfiguration
        chooseSkew()
    }

    /// Steps its wall clock.
    func chooseSkew() {
        let skew = simulation.scenario.skew.count
        guard skew > 0 else { return }
        self.skew = simulation.chance[.clockStep].between(-skew, skew)
        log("its clock is off by \(self.skew) ms")
    }

    /// It looks at the records fetched ahead; for everything else it is woken.
    private static var intervals: LaneIntervals {
        var intervals = LaneIntervals.never
        intervals.look = LaneIntervals.usual.look
        return intervals
    }

    var process: Process { Process(worker: index, life: life) }

    var transactionalID: Int {
        Process(worker: index, life: simulation.scenario.hasFixedIDs ? 0 : life).member
    }

    var lane: Lane<SimulatedWorker> {
        guard let runningLane else { preconditionFailure("\(process) was never started") }
        return runningLane
    }

    /// The record in one of the engine's slots.
    func record(in slot: SlotID) -> SimulatedRecord? { lane.records[Int(slot.index)] }

    // MARK: Life and death

    func start() {
        life += 1
        isRunning = true
        frozenUntil = nil
        frozenFor = 0
        lastTurn = simulation.now
        inbox = Inbox()
        hasRival = false
        nextTick.at = .max
        isMember = false
        isAssigned = false
        isGivingBack = false
        isZombie = false
        forgetAssignment()
        (stood, unnoticed) = ([:], [:])
        limitedCalls = []
        connections = SharedConnections(losses: simulation.scenario.connectionLosses)
        rejectedInARow = 0
        mayHaveExcused = false
        log("starts")
        toldCampaigns = [:]
        runningLane = nil
        client = TransactionClient()
        let controls = SimulatedControls(of: self)
        self.controls = controls
        startFollowingWords()
        controls.start()
    }

    /// Starts the lane, because the content of the campaigns topic is known, or that takes too long.
    func startsLane() {
        guard !hasLaneStarted else { return }
        lastTurn = simulation.now
        frozenFor = 0
        maxBuffered = configuration.maxBuffered
        statuses = configuration.live.statuses
        configuration.lastWord = words?.table
        runningLane = Lane(
            number: 0, configuration: configuration, requestWeights: Scenario.requestWeights, io: self, logger: .silent,
            intervals: Self.intervals)
        go()
    }

    /// Ends with the run.
    func letGo() {
        controls?.end()
        (runningLane, controls) = (nil, nil)
    }

    /// SIGKILL: the memory is lost; the session ends later; the process is started again.
    func crash() {
        log("is killed")
        hitInMemory()
        die()
        simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
        simulation.schedule(.start(worker: index), after: simulation.chance[.crash].between(100, 20_000))
    }

    /// SIGSTOP, and SIGCONT later; perhaps longer than its session.
    func freeze() {
        let duration = simulation.chance[.freeze].between(100, 30_000)
        log("is frozen for \(duration) ms")
        lostSince = nil
        frozenUntil = simulation.now + duration
        simulation.schedule(.thaw(process, after: duration), after: duration)
        guard duration > Self.session, isMember else { return }
        simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
    }

    /// Ends its session although it is healthy.
    func loseSession() {
        guard isAssigned, !isZombie else { return }
        log("is not heard of by the group")
        sessionEnded()
        simulation.rebalance(telling: simulation.cluster.remove(process.member))
        // Some hear of it at once, and others after a while of refused commits.
        let latest: Int64 = simulation.chance[.sessionLoss].pick([0, 20, 3_000])
        simulation.schedule(.news(process, .lost), after: simulation.chance[.sessionLoss].between(0, latest))
    }

    func thaw(after duration: Int64) {
        log("goes on")
        frozenUntil = nil
        // A shorter standstill is within the wait of any call for its commit, and a requested wait does not count.
        let limit = configuration.maxUnrecorded + LaneIntervals.usual.poll
        hasStoodStill = isZombie && .milliseconds(duration) >= limit
        frozenFor += duration
        controls?.thaws()
        if isZombie {
            simulation.schedule(.news(process, .lost), after: simulation.chance[.freeze].between(0, 1_500))
        }
        recordsArrived()
    }

    /// Ends its session without its knowledge.
    func sessionEnded() {
        isZombie = true
        forgetEvents()
        hitInMemory()
    }

    func join() {
        log("joins")
        isZombie = false
        lostSince = nil
        hasStoodStill = false
        isMember = true
        joins += 1
        isGivingBack = false
        let instance = simulation.scenario.isStatic ? index : nil
        switch simulation.cluster.join(process.member, instance: instance) {
        case .rebalance(let told): simulation.rebalance(telling: told)
        case .kept(let places):
            log("is the static member that was there before")
            let generation = simulation.cluster.members[process.member]?.generation ?? 0
            simulation.tell(process, .assigned(generation: generation, places))
        }
    }

    /// SIGTERM.
    func drain() {
        log("drains")
        stop(timeout: configuration.drainTimeout)
        simulation.schedule(.drainIsOver(process), after: Self.patience)
        simulation.inputs += 1
        tell(.drain)
        go()
    }

    /// SIGHUP, after a change of the file.
    func change(to settings: LiveConfiguration) {
        log("is told other settings: \(settings.maxInFlight) calls in flight")
        configuration.live = settings
        guard hasLaneStarted else { return }
        maxBuffered = max(maxBuffered, configuration.maxBuffered)
        // The former limit does not matter.
        limitedCalls = []
        rejectedInARow = 0
        usersInARow = []
        let outage = lane.engine.outage
        simulation.inputs += 1
        tell(.settings(LaneSettings(engine: settings, connectionLimit: settings.maxInFlight)))
        go()
        guard isRunning, let outage, let now = lane.engine.outage, now.reason == outage.reason else {
            probes = []
            return
        }
        let isOff =
            outage.reason == .breaker && settings.breaker.of == 0
            || outage.reason == .deadLetterBreaker && settings.deadLetterBreaker.of == 0
        if isOff { simulation.checkers.fail("\(process) stands still for a breaker that is off") }
    }

    /// From now on no new call may begin, and calls under way are waited for.
    func stop(timeout: Milliseconds) {
        if !isStopping { stopDeadline = simulation.now + timeout.count }
        isStopping = true
    }

    /// Events were given up: only after the time-out, or when another worker has them already.
    func gaveUp() {
        if simulation.now < stopDeadline, simulation.cluster.accepts(member: process.member, generation: generation) {
            simulation.checkers.fail("promise 3: \(process) gives up \(stopDeadline - simulation.now) ms too soon")
        }
        hitInMemory()
    }

    func leave() {
        log("leaves")
        die()
        if simulation.scenario.isStatic {
            simulation.schedule(.sessionEnds(process, join: joins), after: Self.session)
        } else {
            simulation.rebalance(telling: simulation.cluster.remove(process.member))
        }
        simulation.schedule(.start(worker: index), after: simulation.chance[.restart].between(100, 5_000))
    }

    private func die() {
        forgetEvents()
        isRunning = false
        controls?.end()
        (controls, words, capReading) = (nil, nil, nil)
        stopTaking()
    }

    private func stopTaking() {
        for place in places { simulation.cluster[simulation.cluster.current(place)].takers.removeAll { $0 == index } }
    }

    /// Its memory of earlier events is lost.
    private func forgetEvents() {
        if !fetched.isEmpty { simulation.checkers.isKnowledgeLost = true }
    }

    func forgetAssignment() {
        forgetEvents()
        stopTaking()
        generation = 0
        places = []
        fetched = FetchedQueues(limit: simulation.scenario.fetchedAhead)
        told = []
        begunAt = []
        isStopping = false
        commitIsDoubtful = false
        active = [:]
        passed = []
        callsOut = [:]
        unrecordedSince = [:]
        apart = [:]
        detoured = []
        answered = []
        heldBeside = [:]
        unfit = []
        refusedTogether = [:]
        heldCall = nil
        counted = []
        sentAt = [:]
        passedUrgent = [:]
        probes = []
        produced = []
        retainedRecords = 0
    }

    /// Events that were taken and are not durable may be called again by another worker.
    func hitInMemory() {
        guard hasLaneStarted else { return }
        for case let record? in lane.records { hit(record.name) }
        // Without transactions, written records may not be committed.
        guard !simulation.scenario.isAtomic else { return }
        for (place, taken) in zip(places, fetched.taken) {
            let committed = simulation.cluster[place].standing
            for offset in committed..<max(committed, taken) {
                let name = RecordName(place: place, offset: offset)
                // A record without room was not taken.
                if name != lane.refused?.record.name { hit(name) }
            }
        }
    }

    func hit(_ name: RecordName) {
        guard let record = simulation.cluster.record(name) else { return }
        for duty in record.duties { simulation.checkers.faultHit(duty) }
        simulation.checkers.wasPassed(user: record.user, name)
    }

    /// Notes that the lane has put a record into one of the engine's slots.
    func retained(_ name: RecordName) {
        retainedRecords += 1
        // Another worker has it too.
        if isZombie, !simulation.scenario.isAtomic { hit(name) }
    }

    /// Notes that the lane gives back a record from one of the engine's slots.
    func released(_ name: RecordName) {
        retainedRecords -= 1
        // Events that are given up are released with that notice.
        if isStopping, lane.engine.actions.contains(where: { if case .notice(.gaveUp) = $0 { true } else { false } }) {
            hit(name)
        }
        passed.remove(name)
        callsOut[name] = nil
        if let line = line(of: name), active[line] == name { active[line] = nil }
    }

    func line(of name: RecordName) -> OrderLine? {
        switch simulation.scenario.ordering {
        case .key: OrderLine(user: simulation.cluster.record(name)?.user ?? -1, place: Place(topic: 0, partition: 0))
        case .partition: OrderLine(user: -1, place: name.place)
        case .none: nil
        }
    }
}
